// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package redisconn

import (
	"fmt"
	"log/slog"
)

// hidden stands for a password or a key where settings are shown.
const hidden = "xxxxx"

// Redacted returns the settings with passwords and the key replaced. JSON of the
// settings themselves holds them, since they travel that way.
func (s Settings) Redacted() Settings {
	if s.Password != "" {
		s.Password = hidden
	}
	if s.SentinelPassword != "" {
		s.SentinelPassword = hidden
	}
	if s.TLS != nil && len(s.TLS.Key) > 0 {
		shown := *s.TLS
		shown.Key = []byte(hidden)
		s.TLS = &shown
	}
	return s
}

// plain has the fields of Settings and none of its methods.
type plain Settings

// String shows the settings without passwords and keys.
func (s Settings) String() string { return fmt.Sprintf("%+v", plain(s.Redacted())) }

// GoString shows the settings without passwords and keys.
func (s Settings) GoString() string { return fmt.Sprintf("%#v", plain(s.Redacted())) }

// LogValue is what a log shows: the settings without passwords and keys.
func (s Settings) LogValue() slog.Value { return slog.StringValue(s.String()) }
