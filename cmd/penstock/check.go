// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"

	"github.com/spf13/cobra"
)

func newCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "check FILE...",
		Short:   "Say whether policy files are valid",
		Example: "  penstock check policy.yaml",
		Args:    usage(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, files []string) error {
			loaded, err := loadPolicies(files, "")
			if err != nil {
				return err
			}
			loaded.warn(cmd.ErrOrStderr())
			rules := 0
			for _, policy := range loaded.ruleSet.Policies {
				rules += len(policy.Rules)
			}
			_, err = fmt.Fprintf(cmd.OutOrStdout(), "valid: %s, %s in force\n",
				counted(len(loaded.documents), "policy", "policies"), counted(rules, "rule", "rules"))
			return err
		},
	}
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
