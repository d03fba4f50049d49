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
	urlForm = "redis://user:password@host:port/database, unix://user:password@/path?database=1, " +
		"redis-sentinel://user:password@host:port,host:port/master/database?sentinelPassword=password, " +
		"or redis-cluster://user:password@host:port,host:port; with rediss instead of redis for TLS"
	defaultPort         = "6379"
	defaultSentinelPort = "26379"
)

// ParseURL reads a store's address as it is given on a command line:
//
//	redis://user:password@host:port/database
//	unix://user:password@/path?database=1
//	redis-sentinel://user:password@host:port,host:port/master/database?sentinelUsername=user&sentinelPassword=secret
//	redis-cluster://user:password@host:port,host:port
//
// With rediss instead of redis it is TLS with the system's certificates. User,
// port, database and query may be left out. Errors never repeat the URL, since it
// may hold a password.
func ParseURL(text string) (Settings, error) {
	text, hosts := splitHosts(text)
	parsed, err := url.Parse(text)
	if err != nil {
		return Settings{}, errors.New("parse store URL: it is not a URL; the form is " + urlForm + ", with special characters of the password percent-encoded")
	}
	settings := Settings{}
	scheme, isSecured := strings.CutPrefix(parsed.Scheme, "rediss")
	if isSecured {
		scheme, settings.TLS = "redis"+scheme, &TLS{}
	} else {
		scheme = parsed.Scheme
	}
	if parsed.User != nil {
		settings.Username = parsed.User.Username()
		settings.Password, _ = parsed.User.Password()
	}
	switch scheme {
	case "redis":
		settings.Mode = Standalone
		err = settings.readServer(parsed, hosts)
	case "unix":
		settings.Mode = Standalone
		err = settings.readSocket(parsed)
	case "redis-sentinel":
		settings.Mode = Sentinel
		err = settings.readSentinel(parsed, hosts)
	case "redis-cluster":
		settings.Mode = Cluster
		err = settings.readServer(parsed, hosts)
	default:
		err = errors.New("the scheme is none of redis, rediss, unix, redis-sentinel and redis-cluster")
	}
	if err == nil && parsed.Fragment != "" {
		err = errors.New("it has a fragment")
	}
	if err != nil {
		return Settings{}, fmt.Errorf("parse store URL: %w; the form is %s", err, urlForm)
	}
	if err := settings.Validate(); err != nil {
		return Settings{}, fmt.Errorf("parse store URL: %w", err)
	}
	return settings, nil
}

// splitHosts takes a list of hosts out of a URL, which may have one, and leaves
// the first in it.
func splitHosts(text string) (withOne string, hosts []string) {
	scheme, rest, found := strings.Cut(text, "://")
	if !found {
		return text, nil
	}
	authority, tail := rest, ""
	if end := strings.IndexAny(rest, "/?#"); end >= 0 {
		authority, tail = rest[:end], rest[end:]
	}
	at := strings.LastIndex(authority, "@") + 1
	hosts = strings.Split(authority[at:], ",")
	return scheme + "://" + authority[:at] + hosts[0] + tail, hosts
}

func (s *Settings) readServer(parsed *url.URL, hosts []string) error {
	if parsed.RawQuery != "" {
		return errors.New("it has a query")
	}
	if err := s.readHosts(hosts, defaultPort); err != nil {
		return err
	}
	return s.readDatabase(strings.TrimPrefix(parsed.Path, "/"))
}

func (s *Settings) readSocket(parsed *url.URL) error {
	if parsed.Host != "" {
		return errors.New("a Unix socket has a path and no host, as in unix:///run/redis.sock")
	}
	s.Addresses = []string{parsed.Path}
	query := parsed.Query()
	database := query.Get("database")
	if query.Del("database"); len(query) > 0 {
		return errors.New("its query has more than database")
	}
	return s.readDatabase(database)
}

func (s *Settings) readSentinel(parsed *url.URL, hosts []string) error {
	if err := s.readHosts(hosts, defaultSentinelPort); err != nil {
		return err
	}
	query := parsed.Query()
	s.SentinelUsername, s.SentinelPassword = query.Get("sentinelUsername"), query.Get("sentinelPassword")
	query.Del("sentinelUsername")
	if query.Del("sentinelPassword"); len(query) > 0 {
		return errors.New("its query has more than sentinelUsername and sentinelPassword")
	}
	var database string
	s.MasterName, database, _ = strings.Cut(strings.TrimPrefix(parsed.Path, "/"), "/")
	return s.readDatabase(database)
}

// readHosts reads addresses without a scheme or user.
func (s *Settings) readHosts(hosts []string, port string) error {
	for _, host := range hosts {
		one, err := url.Parse("redis://" + host)
		if err != nil || one.Host != host {
			return errors.New("one of its hosts is not host:port")
		}
		address := net.JoinHostPort(one.Hostname(), port)
		if one.Port() != "" {
			address = net.JoinHostPort(one.Hostname(), one.Port())
		}
		s.Addresses = append(s.Addresses, address)
	}
	return nil
}

func (s *Settings) readDatabase(text string) error {
	if text == "" {
		return nil
	}
	database, err := strconv.Atoi(text)
	if err != nil {
		return errors.New("the database is not a number")
	}
	s.Database = database
	return nil
}
