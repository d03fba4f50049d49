// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// readCommand reads one command as clients send them: an array of texts.
func readCommand(from *bufio.Reader) ([]string, error) {
	count, err := readLength(from, '*')
	if err != nil {
		return nil, err
	}
	words := make([]string, 0, count)
	for range count {
		length, err := readLength(from, '$')
		if err != nil {
			return nil, err
		}
		text := make([]byte, length+2)
		if _, err := io.ReadFull(from, text); err != nil {
			return nil, err
		}
		words = append(words, string(text[:length]))
	}
	return words, nil
}

func readLength(from *bufio.Reader, kind byte) (int, error) {
	line, err := from.ReadString('\n')
	if err != nil {
		return 0, err
	}
	if line[0] != kind {
		return 0, fmt.Errorf("read a command: %q does not begin with %q", line, kind)
	}
	return strconv.Atoi(strings.TrimSpace(line[1:]))
}

// appendCommand writes a command as clients send them.
func appendCommand(to []byte, words []string) []byte {
	to = fmt.Appendf(to, "*%d\r\n", len(words))
	for _, word := range words {
		to = fmt.Appendf(to, "$%d\r\n%s\r\n", len(word), word)
	}
	return to
}

// readReply reads one whole reply and returns its first line.
func readReply(from *bufio.Reader) (string, error) {
	line := ""
	// Empty lines keep a connection alive while a replica waits.
	for line == "" {
		text, err := from.ReadString('\n')
		if err != nil {
			return "", err
		}
		line = strings.TrimSpace(text)
	}
	switch line[0] {
	case '$':
		length, err := strconv.Atoi(line[1:])
		if err != nil {
			return "", err
		}
		if length >= 0 {
			_, err = from.Discard(length + 2)
		}
		return line, err
	case '*':
		count, err := strconv.Atoi(line[1:])
		if err != nil {
			return "", err
		}
		for range count {
			if _, err := readReply(from); err != nil {
				return "", err
			}
		}
	}
	return line, nil
}
