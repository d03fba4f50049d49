// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package redisconn

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// clientName is what CLIENT LIST shows for our connections.
const clientName = "penstock"

// Purpose says what a client is for: it decides deadlines, retries and buffers.
type Purpose int

const (
	// Deciding is for the scripts of the request path: a hard deadline, no
	// retries, since a script that ran must not run again, and few small
	// connections, since every pod pays for them.
	Deciding Purpose = iota
	// Publishing is for rule sets and acknowledgements, which may take a second
	// and may be repeated.
	Publishing
)

// decidingConnections is how many connections one sidecar opens. They are opened
// ahead of need and again after a failure, in the background.
const decidingConnections = 3

// publishTimeout bounds one operation of a Publishing client.
const publishTimeout = 5 * time.Second

// New returns a client for the store. It connects in the background, so an
// unreachable store shows in the first operation. Errors are those of Validate.
func New(settings Settings, purpose Purpose) (redis.UniversalClient, error) {
	if err := settings.Validate(); err != nil {
		return nil, err
	}
	options := &redis.Options{
		Addr:                     settings.Addresses[0],
		ClientName:               clientName,
		DisableIdentity:          true,
		Protocol:                 2,
		Username:                 settings.Username,
		Password:                 settings.Password,
		DB:                       settings.Database,
		DialTimeout:              orDefault(settings.DialTimeout, DefaultDialTimeout),
		ContextTimeoutEnabled:    true,
		PipelinePoolSize:         -1,
		TLSConfig:                settings.TLS.config(),
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
	switch purpose {
	case Deciding:
		limitForDeciding(options, orDefault(settings.OperationTimeout, DefaultOperationTimeout))
	case Publishing:
		options.ReadTimeout, options.WriteTimeout = publishTimeout, publishTimeout
	default:
		return nil, fmt.Errorf("make a Redis client: unknown purpose %d", purpose)
	}
	return redis.NewClient(options), nil
}

func limitForDeciding(options *redis.Options, timeout time.Duration) {
	options.MaxRetries = -1
	options.ReadTimeout, options.WriteTimeout, options.PoolTimeout = timeout, timeout, timeout
	options.DialerRetries = 1
	options.PoolSize, options.MaxActiveConns = decidingConnections, decidingConnections
	options.MinIdleConns = decidingConnections
	options.ReadBufferSize, options.WriteBufferSize = 4<<10, 4<<10
	// A pool that never lets connections idle out needs no dial in a request.
	options.ConnMaxIdleTime = -1
}

// config returns nil, which means clear text, for nil. The settings are valid.
func (t *TLS) config() *tls.Config {
	if t == nil {
		return nil
	}
	config := &tls.Config{ServerName: t.ServerName, MinVersion: tls.VersionTLS12}
	if len(t.CA) > 0 {
		config.RootCAs = x509.NewCertPool()
		config.RootCAs.AppendCertsFromPEM(t.CA)
	}
	return config
}

func orDefault(value, absent time.Duration) time.Duration {
	if value == 0 {
		return absent
	}
	return value
}
