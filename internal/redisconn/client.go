// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package redisconn

import (
	"crypto/tls"
	"crypto/x509"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"
)

// clientName is what CLIENT LIST shows for our connections.
const clientName = "penstock"

// publishTimeout bounds one operation of a client for rule sets.
const publishTimeout = 5 * time.Second

// New returns a client for rule sets and acknowledgements, which may take a second
// and may be repeated. It connects in the background, so an unreachable store shows
// in the first operation. Errors are those of Validate.
func New(settings Settings) (redis.UniversalClient, error) {
	options, err := optionsFor(settings)
	if err != nil {
		return nil, err
	}
	options.ReadTimeout, options.WriteTimeout = publishTimeout, publishTimeout
	return redis.NewClient(options), nil
}

// DecidingOptions say how to connect for the scripts of the request path: Keep
// opens such connections. Errors are those of Validate.
func DecidingOptions(settings Settings) (*redis.Options, error) {
	options, err := optionsFor(settings)
	if err != nil {
		return nil, err
	}
	// A full call of 64 checks is written at once; every pod pays for the buffers.
	options.ReadBufferSize, options.WriteBufferSize = 4<<10, 16<<10
	return options, nil
}

func optionsFor(settings Settings) (*redis.Options, error) {
	if err := settings.Validate(); err != nil {
		return nil, err
	}
	return &redis.Options{
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
	}, nil
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
