// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strconv"
	"strings"
)

// parseLabels reads labels as the downward API writes them to a file: one per
// line, key="value", the value quoted and escaped as Go does.
func parseLabels(content string) (map[string]string, error) {
	labels := map[string]string{}
	number := 0
	for line := range strings.Lines(content) {
		number++
		line = strings.TrimRight(line, "\r\n")
		if line == "" {
			continue
		}
		key, quoted, found := strings.Cut(line, "=")
		if !found || key == "" {
			return nil, fmt.Errorf("line %d: %q is not of the form key=\"value\"", number, line)
		}
		value, err := strconv.Unquote(quoted)
		if err != nil {
			return nil, fmt.Errorf("line %d: value of label %q is not quoted as the downward API does", number, key)
		}
		labels[key] = value
	}
	return labels, nil
}
