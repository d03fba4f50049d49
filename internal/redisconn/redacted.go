// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package redisconn

import (
	"fmt"
	"log/slog"
)

// hiddenPassword stands for a password where settings are shown.
const hiddenPassword = "xxxxx"

// Redacted returns the settings with the password replaced. JSON of the settings
// themselves holds the password, since they travel that way.
func (s Settings) Redacted() Settings {
	if s.Password != "" {
		s.Password = hiddenPassword
	}
	return s
}

// plain has the fields of Settings and none of its methods.
type plain Settings

// String shows the settings without the password.
func (s Settings) String() string { return fmt.Sprintf("%+v", plain(s.Redacted())) }

// GoString shows the settings without the password.
func (s Settings) GoString() string { return fmt.Sprintf("%#v", plain(s.Redacted())) }

// LogValue is what a log shows: the settings without the password.
func (s Settings) LogValue() slog.Value { return slog.StringValue(s.String()) }
