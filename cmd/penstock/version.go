// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is stamped by the linker.
var version string

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Say which version this is",
		Args:  usage(cobra.NoArgs),
		RunE: func(cmd *cobra.Command, _ []string) error {
			_, err := fmt.Fprintf(cmd.OutOrStdout(), "penstock version %s\n", cmd.Root().Version)
			return err
		},
	}
}

// unknownVersion is that of builds which nothing tells more of.
const unknownVersion = "dev"

// versionOf is the version that was stamped, else that of the module, which Go takes from
// the repository it was built in or installed from.
func versionOf(build *debug.BuildInfo, ok bool) string {
	switch {
	case version != "":
		return version
	case ok && build.Main.Version != "" && build.Main.Version != "(devel)":
		return build.Main.Version
	default:
		return unknownVersion
	}
}
