// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package redisconn

import (
	"cmp"
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
// in the first operation. It follows failovers and slots by itself. Errors are
// those of Validate.
func New(settings Settings) (redis.UniversalClient, error) {
	if err := settings.Validate(); err != nil {
		return nil, err
	}
	options := settings.options()
	options.ReadTimeout, options.WriteTimeout = publishTimeout, publishTimeout
	switch settings.mode() {
	case Sentinel:
		return redis.NewFailoverClient(options.Failover()), nil
	case Cluster:
		return redis.NewClusterClient(options.Cluster()), nil
	default:
		return redis.NewClient(settings.simple(options)), nil
	}
}

// DecidingOptions say how to connect for the scripts of the request path: Keep
// opens such connections. With Sentinel each leads to the server that is the master
// when it is made. With Cluster they lead to the first of the addresses, and
// differ by Addr alone for the other nodes. Errors are those of Validate.
func DecidingOptions(settings Settings) (*redis.Options, error) {
	if err := settings.Validate(); err != nil {
		return nil, err
	}
	options := settings.simple(settings.options())
	// A full call of 64 checks is written at once; every pod pays for the buffers.
	options.ReadBufferSize, options.WriteBufferSize = 4<<10, 16<<10
	if settings.mode() == Sentinel {
		options.Addr = settings.MasterName
		options.Dialer = newMasterFinder(settings).dial
		options.OnConnect = refuseReplica
	}
	return options, nil
}

// options are what the clients of all modes have in common.
func (s Settings) options() *redis.UniversalOptions {
	return &redis.UniversalOptions{
		Addrs:                    s.Addresses,
		MasterName:               s.MasterName,
		SentinelUsername:         s.SentinelUsername,
		SentinelPassword:         s.SentinelPassword,
		ClientName:               clientName,
		DisableIdentity:          true,
		Protocol:                 2,
		Username:                 s.Username,
		Password:                 s.Password,
		DB:                       s.Database,
		DialTimeout:              cmp.Or(s.DialTimeout, DefaultDialTimeout),
		ContextTimeoutEnabled:    true,
		PipelinePoolSize:         -1,
		TLSConfig:                s.TLS.config(),
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
}

// simple are the options of a connection to one server.
func (s Settings) simple(options *redis.UniversalOptions) *redis.Options {
	simple := options.Simple()
	if isSocket(simple.Addr) {
		simple.Network = "unix"
	}
	return simple
}
