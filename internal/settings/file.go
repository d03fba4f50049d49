// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// FileFlag is the name of the flag that names the file.
const FileFlag = "config"

// maxFileBytes bounds the file.
const maxFileBytes = 1 << 20

// ReadFile sets flags from a file: a JSON object whose names are those of flags. A
// value is what the flag takes, as a string, number, true or false; a list is a flag
// that is given several times; and an object is for a flag that takes JSON. Flags for
// which given reports true were on the command line, which wins: they stay as they are.
// The file may not be named by itself.
func ReadFile(path string, set *flag.FlagSet, given func(name string) bool) error {
	file, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("flag --%s: %w; name a file with settings in JSON", FileFlag, err)
	}
	defer func() { _ = file.Close() }()
	content, err := io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	switch {
	case err != nil:
		return fmt.Errorf("flag --%s: read %s: %w", FileFlag, path, err)
	case len(content) > maxFileBytes:
		return fmt.Errorf("flag --%s: %s is longer than %d bytes: it is no file with settings", FileFlag, path, maxFileBytes)
	}
	if err := apply(content, set, given); err != nil {
		return fmt.Errorf("file %s: %w", path, err)
	}
	return nil
}

// Repeatable is implemented by values of flags that may be given several times.
type Repeatable interface{ IsRepeatable() bool }

// entry is a setting of the file.
type entry struct {
	name string
	raw  json.RawMessage
}

func apply(content []byte, set *flag.FlagSet, given func(string) bool) error {
	entries, err := readEntries(content)
	if err != nil {
		return err
	}
	var problems []error
	for _, e := range entries {
		f := set.Lookup(e.name)
		if f == nil || e.name == FileFlag {
			problems = append(problems, unknown(e.name, set))
			continue
		}
		values, err := valuesOf(e.raw)
		if err != nil {
			problems = append(problems, fmt.Errorf("setting %q: %w", e.name, err))
			continue
		}
		if repeatable, ok := f.Value.(Repeatable); len(values) != 1 && (!ok || !repeatable.IsRepeatable()) {
			problems = append(problems, fmt.Errorf("setting %q takes one value, the list has %d", e.name, len(values)))
			continue
		}
		if given(e.name) {
			continue
		}
		for _, text := range values {
			if err := set.Set(e.name, text); err != nil {
				problems = append(problems, fmt.Errorf("setting %q: value %q: %w", e.name, text, err))
			}
		}
	}
	return errors.Join(problems...)
}

// readEntries reads an object in order, and refuses a name that comes twice: of its
// values one would silently not hold.
func readEntries(content []byte) ([]entry, error) {
	decoder := json.NewDecoder(bytes.NewReader(content))
	const want = `want a JSON object whose names are those of flags, such as {"log-level": "debug"}`
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return nil, errors.New(want)
	}
	var entries []entry
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return nil, fmt.Errorf("read JSON: %w", err)
		}
		// A name of an object is always a string.
		e := entry{name: token.(string)}
		if err := decoder.Decode(&e.raw); err != nil {
			return nil, fmt.Errorf("setting %q: read JSON: %w", e.name, err)
		}
		if slices.ContainsFunc(entries, func(other entry) bool { return other.name == e.name }) {
			return nil, fmt.Errorf("setting %q is there twice: keep one, or write a list where the flag may be given several times", e.name)
		}
		entries = append(entries, e)
	}
	if _, err := decoder.Token(); err != nil {
		return nil, fmt.Errorf("read JSON: %w", err)
	}
	if _, err := decoder.Token(); !errors.Is(err, io.EOF) {
		return nil, errors.New("there is more after the JSON object: " + want)
	}
	return entries, nil
}

// valuesOf are the texts that a flag is given for a value.
func valuesOf(raw json.RawMessage) ([]string, error) {
	switch raw[0] {
	case 'n':
		return nil, errors.New("null is no value: leave the setting out to have its default")
	case '[':
		var items []json.RawMessage
		if err := json.Unmarshal(raw, &items); err != nil {
			return nil, err
		}
		var values []string
		for _, item := range items {
			if item[0] == '[' {
				return nil, errors.New("a list in a list is no value")
			}
			inner, err := valuesOf(item)
			if err != nil {
				return nil, err
			}
			values = append(values, inner...)
		}
		return values, nil
	case '"':
		var text string
		err := json.Unmarshal(raw, &text)
		return []string{text}, err
	default:
		// Numbers, true and false are written as flags take them, and objects go to
		// flags that read JSON.
		return []string{string(raw)}, nil
	}
}

// unknown names a setting that does not exist, and one that may be meant.
func unknown(name string, set *flag.FlagSet) error {
	if set.Lookup(strings.TrimLeft(name, "-")) != nil && name != FileFlag {
		return fmt.Errorf("setting %q: write it without dashes before it: %q", name, strings.TrimLeft(name, "-"))
	}
	if name == FileFlag {
		return fmt.Errorf("setting %q: a file cannot name another one", name)
	}
	return fmt.Errorf("setting %q is unknown: names are those of the flags, see --help", name)
}
