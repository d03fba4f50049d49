// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package redisconn

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"
)

const (
	urlForm     = "redis://user:password@host:port/database, or rediss:// for TLS"
	defaultPort = "6379"
)

// ParseURL reads a store's address as it is given on a command line:
// redis://user:password@host:port/database, or rediss:// for TLS with the
// system's certificates. Port 6379 and database 0 may be left out. Errors never
// repeat the URL, since it may hold a password.
func ParseURL(text string) (Settings, error) {
	parsed, err := url.Parse(text)
	if err != nil {
		return Settings{}, errors.New("parse store URL: it is not a URL; the form is " + urlForm + ", with special characters of the password percent-encoded")
	}
	settings := Settings{Mode: modeStandalone}
	switch parsed.Scheme {
	case "redis":
	case "rediss":
		settings.TLS = &TLS{}
	default:
		return Settings{}, errors.New("parse store URL: the scheme is not redis or rediss; the form is " + urlForm)
	}
	if parsed.RawQuery != "" || parsed.Fragment != "" {
		return Settings{}, errors.New("parse store URL: it has a query or a fragment; the form is " + urlForm)
	}
	port := parsed.Port()
	if port == "" {
		port = defaultPort
	}
	settings.Addresses = []string{net.JoinHostPort(parsed.Hostname(), port)}
	if parsed.User != nil {
		settings.Username = parsed.User.Username()
		settings.Password, _ = parsed.User.Password()
	}
	if path := strings.TrimPrefix(parsed.Path, "/"); path != "" {
		if settings.Database, err = strconv.Atoi(path); err != nil {
			return Settings{}, errors.New("parse store URL: the database is not a number; the form is " + urlForm)
		}
	}
	if err := settings.Validate(); err != nil {
		return Settings{}, fmt.Errorf("parse store URL: %w", err)
	}
	return settings, nil
}
