// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"sync"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/cobra"

	"github.com/penstock-dev/penstock/internal/jwks"
	"github.com/penstock-dev/penstock/internal/match"
	"github.com/penstock-dev/penstock/internal/proxy"
	"github.com/penstock-dev/penstock/internal/ruleset"
	"github.com/penstock-dev/penstock/internal/settings"
)

func newRunCommand() *cobra.Command {
	flags, groups := newRunFlags()
	set := groups.FlagSet("run")
	command := &cobra.Command{
		Use:   "run --policy FILE --upstream URL",
		Short: "Enforce policy files in front of an app, in this process",
		Long: "Enforce policy files in front of an app, in this process and without Kubernetes.\n" +
			"The request path is that of the sidecar. There are no pods: targetRefs and selector\n" +
			"are ignored, and every policy is for every request.\n\n" +
			"Stores: memory; redis://user:password@host:port/database; unix:///path;\n" +
			"redis-sentinel://host:port,host:port/master; redis-cluster://host:port,host:port;\n" +
			"rediss instead of redis for TLS.\n\n" +
			"Exit codes: 0 ended by Ctrl-C or SIGTERM, once answers under way are complete;\n" +
			"1 it could not run; 2 wrong arguments; 3 a policy is invalid.",
		Example: "  penstock run --policy policy.yaml --upstream http://127.0.0.1:9000\n" +
			"  penstock run --policy policy.yaml --upstream http://127.0.0.1:9000 --store redis://127.0.0.1:6379",
		Args: usage(cobra.NoArgs),
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			var err error
			if flags.config != "" {
				err = settings.ReadFile(flags.config, set, cmd.Flags().Changed)
			}
			if err == nil {
				err = flags.check()
			}
			if err != nil {
				return usageError(cmd, err)
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return run(cmd.Context(), flags, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	command.Flags().SortFlags = false
	command.Flags().AddGoFlagSet(set)
	command.SetHelpFunc(func(cmd *cobra.Command, _ []string) {
		to := cmd.OutOrStdout()
		// Whoever closed the output needs no help.
		_, _ = fmt.Fprintf(to, "%s\n\nUsage:\n  %s\n\nExamples:\n%s\n", cmd.Long, cmd.UseLine(), cmd.Example)
		groups.WriteHelp(to)
	})
	return command
}

// quiet drops the lines of the Redis client: what matters in them is an error of
// the call that met it.
type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

// quietRedis is done once, before any client that could read what it sets.
var quietRedis = sync.OnceFunc(func() { redis.SetLogger(quiet{}) })

// run serves until ctx ends.
func run(ctx context.Context, flags *runFlags, stdout, stderr io.Writer) error {
	logger := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: flags.logLevel}))
	quietRedis()
	policies, err := loadPolicies(ctx, flags.policies, flags.namespace)
	if err != nil {
		return err
	}
	if err := flags.knowsRules(policies.ruleSet); err != nil {
		return err
	}
	if err := refuseItself(ctx, flags.upstream, flags.listen); err != nil {
		return err
	}
	warn(stderr, flags.policies, policies.warnings)
	keys, err := keysOf(flags.keyRoots, logger)
	if err != nil {
		return err
	}
	counts, err := openStore(ctx, flags, stderr)
	if ctx.Err() != nil {
		// Ctrl-C is how it is ended, also before it has begun.
		if err == nil {
			counts.close()
		}
		return nil
	}
	if err != nil {
		return err
	}
	defer counts.close()
	port, err := portOf(flags.upstream)
	if err != nil {
		return err
	}
	metrics := proxy.NewMetrics()
	decider := counts.decider(metrics, flags.memoryKeys)
	if err := errors.Join(metrics.WatchCorrectionsLost(counts.lost), metrics.WatchMemoryForgotten(counts.forgotten)); err != nil {
		return fmt.Errorf("register metrics: %w", err)
	}
	if err := errors.Join(metrics.WatchKeyFetchesFailed(keys.Failed), metrics.WatchKeyURLsIgnored(keys.Ignored)); err != nil {
		return fmt.Errorf("register metrics: %w", err)
	}
	options := flags.proxy
	options.Admin, options.Metrics, options.Logger, options.StoreState = flags.admin, metrics, logger, counts.state
	server, err := proxy.New([]proxy.Port{{Listen: []string{flags.listen}, AppPort: port, Upstream: flags.upstream}}, decider, options)
	if err != nil {
		return err
	}
	if err := enforce(server, policies.ruleSet, flags.store, keys); err != nil {
		return err
	}
	if err := server.Listen(ctx); err != nil {
		return fmt.Errorf("%w; choose another address with --listen or --admin", err)
	}
	greet(stdout, &greeting{
		upstream: flags.upstream, store: counts.name, listening: server.Addresses(port)[0],
		admin: server.AdminAddresses(), ruleSet: policies.ruleSet, documents: policies.documents,
	})
	var watching sync.WaitGroup
	defer watching.Wait()
	watched, stop := context.WithCancel(ctx)
	defer stop()
	watching.Go(func() { keys.Run(watched) })
	watching.Go(func() { counts.watch(watched, metrics, logger) })
	return server.Run(ctx)
}

// enforce puts the rules in force. No pod has labels here, and the policies'
// selectors select it nevertheless.
func enforce(server *proxy.Server, rules *ruleset.RuleSet, store string, keys *jwks.Cache) error {
	rules.IdentityKey = identityKey(store, rules.Namespace)
	_, revision, err := ruleset.Encode(rules)
	if err != nil {
		return err
	}
	matcher, err := match.Compile(rules, nil, match.Options{Keys: keys})
	if err != nil {
		return fmt.Errorf("prepare rules: %w", err)
	}
	keys.Follow(matcher.KeyAddresses())
	server.SetRules(&proxy.Rules{Matcher: matcher, Namespace: rules.Namespace, Revision: revision})
	return nil
}
