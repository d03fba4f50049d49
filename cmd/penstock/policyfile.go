// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"

	"go.yaml.in/yaml/v3"
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
	var documents []*document
	var problems []error
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	for {
		var node yaml.Node
		err := decoder.Decode(&node)
		switch {
		case errors.Is(err, io.EOF):
			if len(documents)+len(problems) == 0 {
				problems = append(problems, fileError(file, &lineError{1, "", errors.New("the file has no policy: write a RateLimitPolicy")}))
			}
			return documents, errors.Join(problems...)
		case err != nil:
			// The parser cannot go on after it.
			return documents, errors.Join(append(problems, fileError(file, syntaxError(err)))...)
		case isEmpty(&node):
			continue
		}
		document := readDocument(file, 0, node.Content[0])
		problems = append(problems, document.faults())
		documents = append(documents, document)
	}
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

func isEmpty(node *yaml.Node) bool {
	return node.Kind == yaml.DocumentNode && node.Content[0].ShortTag() == "!!null"
}

// parserMessage begins the messages of the YAML library's parser, whose lines
// count from 0, while those of its scanner count from 1.
var parserMessage = regexp.MustCompile(`^did not find expected (node content|key|'-' indicator|',' or|<)`)

var yamlLine = regexp.MustCompile(`^yaml: line ([0-9]+): (?s:(.*))$`)

// syntaxError takes the line out of an error of the YAML parser.
func syntaxError(err error) error {
	parts := yamlLine.FindStringSubmatch(err.Error())
	if parts == nil {
		return err
	}
	line, convErr := strconv.Atoi(parts[1])
	if convErr != nil {
		return err
	}
	if parserMessage.MatchString(parts[2]) {
		line++
	}
	return &lineError{line, "", fmt.Errorf("not YAML: %s", parts[2])}
}
