// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"
)

// errInvalidPolicy marks errors of policy files.
var errInvalidPolicy = errors.New("invalid policy")

// errUnreadable marks policy files that cannot be read at all.
var errUnreadable = errors.New("read policy file")

// maxPolicyFileBytes is how long a file of policies may be.
const maxPolicyFileBytes = 16 << 20

// readPolicies reads all policies of a file, which may have several documents. The error
// is of all that is wrong in it; what could be read is returned beside it.
func readPolicies(ctx context.Context, file string) ([]*document, error) {
	text, err := readWhole(ctx, file)
	if err != nil {
		return nil, err
	}
	documents, problems := parse(file, text)
	for _, d := range documents {
		problems = append(problems, d.faults())
	}
	if len(documents)+len(problems) == 0 {
		problems = append(problems, fileError(file, &lineError{line: 1, err: errors.New("the file has no policy: write a RateLimitPolicy")}))
	}
	return documents, errors.Join(problems...)
}

// parse reads the documents of a file. After one that is not YAML it goes on with the
// next.
func parse(file string, text []byte) ([]*document, []error) {
	if err := checkEncoding(text); err != nil {
		return nil, []error{fileError(file, &lineError{line: 1, err: err})}
	}
	var documents []*document
	var problems []error
	values := 0
	for i, part := range partsOf(text) {
		if i == maxParts {
			problems = append(problems, fileError(file, &lineError{line: part.before + 1, err: fmt.Errorf("the file has more than %d documents: write several files", maxParts)}))
			break
		}
		nodes, err := part.nodes()
		for _, node := range nodes {
			for _, object := range objectsOf(node) {
				if values > maxFileNodes {
					tooMany := fmt.Errorf("the file has more than %d values: write several files, and fewer aliases", maxFileNodes)
					return documents, append(problems, fileError(file, &lineError{line: part.before + object.Line, err: tooMany}))
				}
				read := readDocument(file, part.before, object)
				values += read.shape.nodes
				documents = append(documents, read)
			}
		}
		if err != nil {
			problems = append(problems, fileError(file, err))
		}
	}
	return documents, problems
}

// standardInput stands for the name of a file.
const standardInput = "<stdin>"

// readWhole reads a file, unless it is so long that it is another than was meant. A pipe
// that nobody writes to holds it up until ctx ends.
func readWhole(ctx context.Context, name string) ([]byte, error) {
	type result struct {
		text []byte
		err  error
	}
	read := make(chan result, 1)
	go func() {
		text, err := readBounded(name)
		read <- result{text, err}
	}()
	select {
	case result := <-read:
		if result.err != nil {
			return nil, unreadable(name, result.err)
		}
		return result.text, nil
	case <-ctx.Done():
		return nil, unreadable(name, fmt.Errorf("%s: interrupted", name))
	}
}

// unreadable says why a file cannot be read.
func unreadable(name string, err error) error {
	return fileError(name, fmt.Errorf("%w: %w", errUnreadable, err))
}

func readBounded(name string) ([]byte, error) {
	file := os.Stdin
	if name != standardInput {
		opened, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer func() { _ = opened.Close() }()
		file = opened
	}
	text, err := io.ReadAll(io.LimitReader(file, maxPolicyFileBytes+1))
	switch {
	case errors.Is(err, syscall.EISDIR):
		return nil, fmt.Errorf("%s is a folder: name its files", name)
	case err == nil && len(text) > maxPolicyFileBytes:
		return nil, fmt.Errorf("%s has more than %d bytes: it is no file of policies", name, maxPolicyFileBytes)
	default:
		return text, err
	}
}
