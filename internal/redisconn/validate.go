// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package redisconn

import (
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"
)

// The timeouts of a store that names none.
const (
	DefaultOperationTimeout = 25 * time.Millisecond
	DefaultDialTimeout      = 250 * time.Millisecond
)

// modeStandalone is the one mode that is supported so far.
const modeStandalone = "Standalone"

// Validate says what is wrong with the settings. Each error begins with the name
// of its field.
func (s Settings) Validate() error {
	return errors.Join(s.validateMode(), s.validateAddresses(), s.validateLogin(), s.validateTimeouts(), s.validateTLS())
}

func (s Settings) validateMode() error {
	if s.Mode != "" && s.Mode != modeStandalone {
		return fmt.Errorf("mode: %q is not supported yet; use %s", s.Mode, modeStandalone)
	}
	if s.Database < 0 {
		return fmt.Errorf("database: %d is negative; databases count from 0", s.Database)
	}
	if strings.ContainsAny(s.KeyPrefix, "{} \t\r\n") {
		return fmt.Errorf("keyPrefix: %q holds a brace or white space; braces would move keys between cluster slots", s.KeyPrefix)
	}
	return nil
}

func (s Settings) validateAddresses() error {
	if len(s.Addresses) != 1 {
		return fmt.Errorf("addresses: there are %d; %s takes exactly one host:port", len(s.Addresses), modeStandalone)
	}
	host, port, err := net.SplitHostPort(s.Addresses[0])
	if err != nil || host == "" {
		return fmt.Errorf("addresses[0]: %q is not host:port, such as redis.example.com:6379", s.Addresses[0])
	}
	if number, err := strconv.Atoi(port); err != nil || number < 1 || number > 65535 {
		return fmt.Errorf("addresses[0]: port %q is not a number from 1 to 65535", port)
	}
	return nil
}

func (s Settings) validateLogin() error {
	if s.Username != "" && s.Password == "" {
		return fmt.Errorf("password: it is empty, but username is %q; set both", s.Username)
	}
	return nil
}

func (s Settings) validateTimeouts() error {
	if s.OperationTimeout < 0 {
		return fmt.Errorf("operationTimeout: %v is negative; leave it out for %v", s.OperationTimeout, DefaultOperationTimeout)
	}
	if s.DialTimeout < 0 {
		return fmt.Errorf("dialTimeout: %v is negative; leave it out for %v", s.DialTimeout, DefaultDialTimeout)
	}
	return nil
}

func (s Settings) validateTLS() error {
	if s.TLS == nil || len(s.TLS.CA) == 0 {
		return nil
	}
	if !x509.NewCertPool().AppendCertsFromPEM(s.TLS.CA) {
		return errors.New("tls.ca: it holds no PEM-encoded certificate")
	}
	return nil
}
