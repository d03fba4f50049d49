// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"log/slog"
	"strings"

	"github.com/penstock-dev/penstock/internal/proxy"
	"github.com/penstock-dev/penstock/internal/settings"
)

// checkSidecarArguments reads flags as a sidecar will: a wrong one would keep every new
// pod from starting. Those that depend on the pod are not among them.
func checkSidecarArguments(arguments []string) error {
	for _, argument := range arguments {
		if !strings.HasPrefix(argument, "--") || !strings.Contains(argument, "=") {
			return fmt.Errorf("--sidecar-argument %q is no flag with a value: write --name=value, such as --idle-timeout=15m", argument)
		}
	}
	var options proxy.Options
	var level slog.Level
	var keys int
	groups := &settings.Groups{}
	options.AddFlags(groups)
	other := groups.Group("Others that are the same in all pods")
	other.Var(settings.Level(&level), "log-level", "level")
	other.Var(settings.Int(&keys, 1, 100_000_000), "memory-keys", "number")
	if err := settings.Parse(groups.FlagSet("sidecar"), arguments); err != nil {
		return fmt.Errorf("--sidecar-argument: %w; write a flag of the sidecar that is the same in all pods, see sidecar --help", err)
	}
	if err := options.Check(); err != nil {
		return fmt.Errorf("--sidecar-argument: %w", err)
	}
	return nil
}
