// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"strconv"
	"strings"
	"time"
)

// value is a flag that one function reads and another writes.
type value[T any] struct {
	to    *T
	parse func(string) (T, error)
	print func(T) string
}

var _ flag.Value = (*value[int])(nil)

func (v *value[T]) String() string {
	if v.to == nil {
		return ""
	}
	return v.print(*v.to)
}

func (v *value[T]) Set(text string) error {
	parsed, err := v.parse(text)
	if err == nil {
		*v.to = parsed
	}
	return err
}

// Text is any text.
func Text(to *string) flag.Value {
	return &value[string]{
		to: to, parse: func(text string) (string, error) { return text, nil }, print: func(text string) string { return text },
	}
}

// Duration is a time above zero, such as 30s.
func Duration(to *time.Duration) flag.Value {
	return &value[time.Duration]{to: to, print: shortDuration, parse: func(text string) (time.Duration, error) {
		parsed, err := time.ParseDuration(text)
		if err != nil || parsed <= 0 {
			return 0, errors.New("want a time above zero, such as 30s, 1500ms or 5m")
		}
		return parsed, nil
	}}
}

// shortDuration writes no units that are zero: 11m, not 11m0s.
func shortDuration(d time.Duration) string {
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

// Int is a whole number of a range, bounds included.
func Int(to *int, least, most int) flag.Value {
	return &value[int]{to: to, print: strconv.Itoa, parse: func(text string) (int, error) {
		parsed, err := strconv.Atoi(text)
		if err != nil || parsed < least || parsed > most {
			return 0, fmt.Errorf("want a whole number from %d to %d", least, most)
		}
		return parsed, nil
	}}
}

// The units of Size.
const (
	kibibyte = 1 << 10
	mebibyte = 1 << 20
)

// Size is a number of bytes of a range, bounds included, such as 65536, 64KiB or 1MiB.
func Size(to *int, least, most int) flag.Value {
	return &value[int]{to: to, print: sizeText, parse: func(text string) (int, error) {
		digits, unit := text, 1
		if number, found := strings.CutSuffix(text, "KiB"); found {
			digits, unit = number, kibibyte
		} else if number, found := strings.CutSuffix(text, "MiB"); found {
			digits, unit = number, mebibyte
		}
		parsed, err := strconv.Atoi(digits)
		if err != nil || parsed < 0 || parsed > most/unit || parsed*unit < least {
			return 0, fmt.Errorf("want a size from %s to %s, such as 65536 or 64KiB", sizeText(least), sizeText(most))
		}
		return parsed * unit, nil
	}}
}

func sizeText(bytes int) string {
	switch {
	case bytes >= mebibyte && bytes%mebibyte == 0:
		return strconv.Itoa(bytes/mebibyte) + "MiB"
	case bytes >= kibibyte && bytes%kibibyte == 0:
		return strconv.Itoa(bytes/kibibyte) + "KiB"
	default:
		return strconv.Itoa(bytes)
	}
}

// Level is from which level on lines are logged.
func Level(to *slog.Level) flag.Value {
	return &value[slog.Level]{
		to:    to,
		print: func(level slog.Level) string { return strings.ToLower(level.String()) },
		parse: func(text string) (level slog.Level, err error) {
			if err := level.UnmarshalText([]byte(text)); err != nil {
				return 0, errors.New("want one of debug, info, warn, error")
			}
			return level, nil
		},
	}
}

// Switch is on or off.
func Switch(to *bool) flag.Value { return &boolean{to: to} }

type boolean struct{ to *bool }

func (b *boolean) String() string { return strconv.FormatBool(b.to != nil && *b.to) }

func (b *boolean) IsBoolFlag() bool { return true }

func (b *boolean) Set(text string) error {
	parsed, err := strconv.ParseBool(text)
	if err != nil {
		return errors.New("want true or false")
	}
	*b.to = parsed
	return nil
}

// List is a text that may be given several times.
func List(to *[]string) flag.Value { return &list{to: to} }

type list struct{ to *[]string }

func (l *list) String() string {
	if l.to == nil {
		return ""
	}
	return strings.Join(*l.to, ",")
}

func (l *list) IsRepeatable() bool { return true }

func (l *list) Set(text string) error {
	*l.to = append(*l.to, text)
	return nil
}
