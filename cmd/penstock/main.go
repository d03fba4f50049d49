// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"regexp"
	"runtime/debug"
	"syscall"

	"github.com/spf13/cobra"
)

const (
	exitFailed  = 1
	exitUsage   = 2
	exitInvalid = 3
)

// errUsage marks errors of arguments.
var errUsage = errors.New("wrong arguments")

func main() {
	os.Exit(mainWithExitCode())
}

func mainWithExitCode() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return execute(ctx, os.Args[1:], os.Stdout, os.Stderr)
}

// execute runs one command line and returns its exit code.
func execute(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRootCommand()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return 0
	}
	// Nothing can be done about an output that is closed.
	_, _ = fmt.Fprintln(stderr, err)
	switch {
	case errors.Is(err, errUsage):
		return exitUsage
	case errors.Is(err, errInvalidPolicy):
		return exitInvalid
	default:
		return exitFailed
	}
}

func newRootCommand() *cobra.Command {
	root := &cobra.Command{
		Use:           "penstock",
		Short:         "Try out and check rate limits without Kubernetes",
		Version:       versionOf(debug.ReadBuildInfo()),
		SilenceErrors: true,
		SilenceUsage:  true,
		Args:          usage(cobra.NoArgs),
		RunE:          func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	root.SetFlagErrorFunc(usageError)
	root.AddCommand(newRunCommand(), newCheckCommand(), newVersionCommand())
	return root
}

// usage makes errors of arguments say where help is.
func usage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(cmd *cobra.Command, args []string) error {
		if err := check(cmd, args); err != nil {
			return usageError(cmd, err)
		}
		return nil
	}
}

// oneDash is the error of a flag of more than one letter that has one dash.
var oneDash = regexp.MustCompile(`^unknown shorthand flag: '.' in -([a-z0-9][-a-z0-9]+)`)

func usageError(cmd *cobra.Command, err error) error {
	if parts := oneDash.FindStringSubmatch(err.Error()); parts != nil {
		err = fmt.Errorf("unknown flag: -%s: write flags with two dashes, such as --%s", parts[1], parts[1])
	}
	return fmt.Errorf("%w: %w; see %s --help", errUsage, err, cmd.CommandPath())
}
