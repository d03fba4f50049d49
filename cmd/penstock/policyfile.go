// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// errInvalidPolicy marks errors of policy files.
var errInvalidPolicy = errors.New("invalid policy")

// errUnreadable marks policy files that cannot be read at all.
var errUnreadable = errors.New("read policy file")

// maxPolicyFileBytes is how long a file of policies may be.
const maxPolicyFileBytes = 16 << 20

// readPolicies reads all policies of a file, which may have several documents. The error
// is of all that is wrong in it; what could be read is returned beside it.
func readPolicies(file string) ([]*document, error) {
	text, err := readWhole(file)
	if err != nil {
		return nil, fileError(file, fmt.Errorf("%w: %w", errUnreadable, err))
	}
	if err := checkEncoding(text); err != nil {
		return nil, fileError(file, &lineError{1, "", err})
	}
	documents, problems := parse(file, text)
	if len(documents)+len(problems) == 0 {
		problems = append(problems, fileError(file, &lineError{1, "", errors.New("the file has no policy: write a RateLimitPolicy")}))
	}
	return documents, errors.Join(problems...)
}

// parse reads the documents of a file. After one that is not YAML it goes on with the
// next.
func parse(file string, text []byte) ([]*document, []error) {
	var documents []*document
	var problems []error
	for i, part := range partsOf(text) {
		if i == maxParts {
			problems = append(problems, fileError(file, &lineError{part.before + 1, "", fmt.Errorf("the file has more than %d documents: write several files", maxParts)}))
			break
		}
		nodes, err := part.nodes()
		for _, node := range nodes {
			document := readDocument(file, part.before, node)
			problems = append(problems, document.faults())
			documents = append(documents, document)
		}
		if err != nil {
			problems = append(problems, fileError(file, err))
		}
	}
	return documents, problems
}

// readWhole reads a file, unless it is so long that it is another than was meant.
func readWhole(name string) ([]byte, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, maxPolicyFileBytes+1))
	if err == nil && len(text) > maxPolicyFileBytes {
		err = fmt.Errorf("it has more than %d bytes: it is no file of policies", maxPolicyFileBytes)
	}
	return text, err
}
