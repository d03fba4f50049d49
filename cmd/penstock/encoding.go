// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"bytes"
	"errors"
)

// checkEncoding refuses a text that is not in UTF-8 by what its first bytes say: a byte
// order mark, or a zero byte beside an ASCII character. The YAML library would read such
// a text in its own way, or see no document in it.
func checkEncoding(text []byte) error {
	begin := text[:min(len(text), 2)]
	switch {
	case bytes.HasPrefix(text, []byte{0xff, 0xfe, 0, 0}), bytes.HasPrefix(text, []byte{0, 0, 0xfe, 0xff}):
		return errors.New("the file is in UTF-32: save it as UTF-8")
	case bytes.HasPrefix(text, []byte{0xff, 0xfe}), bytes.HasPrefix(text, []byte{0xfe, 0xff}), bytes.IndexByte(begin, 0) >= 0:
		return errors.New("the file is in UTF-16, as PowerShell writes with > and Notepad as Unicode: save it as UTF-8")
	default:
		return nil
	}
}
