// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

func newCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check FILE|FOLDER|-...",
		Short: "Say whether policy files are valid",
		Long: "Say whether policy files are valid, before anybody applies them and without a cluster.\n" +
			"Every problem is told as file:line: field: what is wrong and how to mend it.\n\n" +
			"A FILE has policies (RateLimitPolicy) and stores (RateLimitStore), parted by --- or in a List.\n" +
			"Of a FOLDER all *.yaml, *.yml and *.json are read, also in folders within, but not in those\n" +
			"whose name begins with a dot. - is the standard input. In the last two, objects of other kinds\n" +
			"are skipped and counted. Policies are checked together with those of the same namespace;\n" +
			"whether their targets exist only a cluster can tell.\n\n" +
			"Exit codes: 0 all are valid, perhaps with warnings; 1 a file could not be read;\n" +
			"2 wrong arguments; 3 a policy or store is invalid.",
		Example: "  penstock check policy.yaml\n" +
			"  penstock check manifests/\n" +
			"  kustomize build . | penstock check -",
		Args: usage(cobra.MinimumNArgs(1)),
		RunE: func(cmd *cobra.Command, arguments []string) error {
			c := &checking{}
			for _, argument := range arguments {
				c.read(cmd.Context(), argument)
			}
			if err := c.check(); err != nil {
				return err
			}
			warn(cmd.ErrOrStderr(), c.files, c.warnings)
			_, err := fmt.Fprintln(cmd.OutOrStdout(), c.summary())
			return err
		},
	}
}

// summary says what was found valid.
func (c *checking) summary() string {
	var parts []string
	if c.policies > 0 {
		policies := counted(c.policies, "policy", "policies")
		if c.namespaces > 1 {
			policies += fmt.Sprintf(" in %d namespaces", c.namespaces)
		}
		parts = append(parts, policies, counted(c.rules, "rule", "rules")+" in force")
	}
	if c.stores > 0 {
		parts = append(parts, counted(c.stores, "store", "stores"))
	}
	text := "valid: " + strings.Join(parts, ", ")
	if c.skipped > 0 {
		text += "; skipped: " + counted(c.skipped, "other object", "other objects")
	}
	return text
}

func counted(n int, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return fmt.Sprintf("%d %s", n, many)
}
