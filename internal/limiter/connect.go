// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package limiter

import (
	"cmp"

	"github.com/penstock-dev/penstock/internal/keys"
	"github.com/penstock-dev/penstock/internal/redisconn"
)

// Connect returns a limiter for the store of the settings, with their key prefix
// and operation timeout; see NewRedis. Errors are those of the settings' Validate.
func Connect(settings redisconn.Settings) (*Redis, error) {
	options, err := redisconn.DecidingOptions(settings)
	if err != nil {
		return nil, err
	}
	prefix := cmp.Or(keys.Prefix(settings.KeyPrefix), keys.DefaultPrefix)
	deadline := cmp.Or(settings.OperationTimeout, redisconn.DefaultOperationTimeout)
	if settings.Mode == redisconn.Cluster {
		return newCluster(options, settings.Addresses, newLimiter(prefix, deadline)), nil
	}
	return NewRedis(options, prefix, deadline), nil
}
