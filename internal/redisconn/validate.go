// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package redisconn

import (
	"cmp"
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

// Validate says what is wrong with the settings. Each error begins with the name
// of its field.
func (s Settings) Validate() error {
	return errors.Join(s.validateMode(), s.validateSentinel(), s.validateAddresses(), s.validateLogin(), s.validateTimeouts(), s.TLS.validate())
}

// mode is the mode that is meant.
func (s Settings) mode() string { return cmp.Or(s.Mode, Standalone) }

func (s Settings) validateMode() error {
	switch s.mode() {
	case Standalone, Sentinel, Cluster:
	default:
		return fmt.Errorf("mode: %q is none; write %s, %s or %s", s.Mode, Standalone, Sentinel, Cluster)
	}
	if s.Database < 0 {
		return fmt.Errorf("database: %d is negative; databases count from 0", s.Database)
	}
	if s.Database > 0 && s.mode() == Cluster {
		return fmt.Errorf("database: it is %d; a cluster has only database 0", s.Database)
	}
	if strings.ContainsAny(s.KeyPrefix, "{} \t\r\n") {
		return fmt.Errorf("keyPrefix: %q holds a brace or white space; braces would move keys between cluster slots", s.KeyPrefix)
	}
	return nil
}

func (s Settings) validateSentinel() error {
	isSentinel := s.mode() == Sentinel
	switch {
	case isSentinel && s.MasterName == "":
		return errors.New("masterName: it is empty; write the name that the sentinels know the master by")
	case !isSentinel && s.MasterName != "":
		return fmt.Errorf("masterName: it is %q, but mode is %s; leave it out", s.MasterName, s.mode())
	case !isSentinel && s.SentinelUsername+s.SentinelPassword != "":
		return fmt.Errorf("sentinelPassword: there is a user of sentinels, but mode is %s; leave it out", s.mode())
	case s.SentinelUsername != "" && s.SentinelPassword == "":
		return fmt.Errorf("sentinelPassword: it is empty, but sentinelUsername is %q; set both", s.SentinelUsername)
	}
	return nil
}

func (s Settings) validateAddresses() error {
	isStandalone := s.mode() == Standalone
	if isStandalone && len(s.Addresses) != 1 {
		return fmt.Errorf("addresses: there are %d; %s takes exactly one host:port", len(s.Addresses), Standalone)
	}
	if len(s.Addresses) == 0 {
		return errors.New("addresses: there is none; write at least one host:port")
	}
	for i, address := range s.Addresses {
		if isSocket(address) && isStandalone {
			continue
		}
		host, port, err := net.SplitHostPort(address)
		if err != nil || host == "" {
			return fmt.Errorf("addresses[%d]: %q is not host:port, such as redis.example.com:6379", i, address)
		}
		if number, err := strconv.Atoi(port); err != nil || number < 1 || number > 65535 {
			return fmt.Errorf("addresses[%d]: port %q is not a number from 1 to 65535", i, port)
		}
	}
	return nil
}

// isSocket says that an address is the path of a Unix socket.
func isSocket(address string) bool { return strings.HasPrefix(address, "/") }

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
