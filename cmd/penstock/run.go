// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/url"
	"strconv"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/spf13/cobra"

	"github.com/penstock-dev/penstock/internal/jwks"
	"github.com/penstock-dev/penstock/internal/match"
	"github.com/penstock-dev/penstock/internal/proxy"
	"github.com/penstock-dev/penstock/internal/redisconn"
	"github.com/penstock-dev/penstock/internal/ruleset"
)

// runFlags are the arguments of run.
type runFlags struct {
	policies  []string
	upstream  string
	store     string
	timeout   time.Duration
	listen    string
	admin     []string
	namespace string
	keyRoots  string
}

func newRunCommand() *cobra.Command {
	var flags runFlags
	command := &cobra.Command{
		Use:   "run --policy FILE --upstream URL",
		Short: "Enforce policy files in front of an app, in this process",
		Long: "Enforce policy files in front of an app, in this process and without Kubernetes.\n" +
			"The request path is that of the sidecar. There are no pods: targetRefs and selector\n" +
			"are ignored, and every policy is for every request.\n\n" +
			"Stores: memory; redis://user:password@host:port/database; unix:///path;\n" +
			"redis-sentinel://host:port,host:port/master; redis-cluster://host:port,host:port;\n" +
			"rediss instead of redis for TLS.\n\n" +
			"Exit codes: 0 ended by Ctrl-C; 1 it could not run; 2 wrong arguments; 3 a policy is invalid.",
		Example: "  penstock run --policy policy.yaml --upstream http://127.0.0.1:9000\n" +
			"  penstock run --policy policy.yaml --upstream http://127.0.0.1:9000 --store redis://127.0.0.1:6379",
		Args: usage(cobra.NoArgs),
		PreRunE: func(cmd *cobra.Command, _ []string) error {
			if err := cmd.ValidateRequiredFlags(); err != nil {
				return usageError(cmd, err)
			}
			if _, err := portOf(flags.upstream); err != nil {
				return usageError(cmd, err)
			}
			if flags.upstream == "http://"+flags.listen {
				return usageError(cmd, fmt.Errorf("--upstream %s is --listen itself, so requests would go round in circles: name the app, or listen elsewhere", flags.upstream))
			}
			if flags.timeout <= 0 {
				return usageError(cmd, fmt.Errorf("--store-timeout %v is not a wait: write one such as 25ms", flags.timeout))
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			return run(cmd.Context(), &flags, cmd.OutOrStdout(), cmd.ErrOrStderr())
		},
	}
	set := command.Flags()
	set.SortFlags = false
	set.StringArrayVar(&flags.policies, "policy", nil, "policy `file` (YAML, may hold several policies); repeat for more")
	set.StringVar(&flags.upstream, "upstream", "", "`URL` of the app, such as http://127.0.0.1:9000")
	set.StringVar(&flags.store, "store", memoryStore, "where requests are counted: memory, or the `URL` of a Redis as above")
	set.DurationVar(&flags.timeout, "store-timeout", redisconn.DefaultOperationTimeout, "how long a request waits for a Redis; more for one that is far away")
	set.StringVar(&flags.listen, "listen", "127.0.0.1:8080", "`address` on which requests are taken")
	set.StringArrayVar(&flags.admin, "admin", nil, "`address` of /metrics, /healthz and /readyz; absent is none")
	set.StringVar(&flags.namespace, "namespace", "", "namespace that the counters belong to; absent is the policies' own, else default")
	set.StringVar(&flags.keyRoots, "jwks-ca", "", "`file` with certificates (PEM) to trust where the keys of issuers are fetched (jwks.url); absent is the system's")
	for _, required := range []string{"policy", "upstream"} {
		if err := command.MarkFlagRequired(required); err != nil {
			panic("mark a flag that exists as required: " + err.Error())
		}
	}
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
	logger := slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelWarn}))
	quietRedis()
	policies, err := loadPolicies(flags.policies, flags.namespace)
	if err != nil {
		return err
	}
	policies.warn(stderr)
	keys, err := keysOf(flags.keyRoots, logger)
	if err != nil {
		return err
	}
	counts, err := openStore(ctx, flags.store, flags.timeout)
	if err != nil {
		return err
	}
	defer counts.close()
	port, err := portOf(flags.upstream)
	if err != nil {
		return err
	}
	metrics := proxy.NewMetrics()
	if err := metrics.WatchCorrectionsLost(counts.lost); err != nil {
		return fmt.Errorf("register metrics: %w", err)
	}
	if err := metrics.WatchKeyFetchesFailed(keys.Failed); err != nil {
		return fmt.Errorf("register metrics: %w", err)
	}
	server, err := proxy.New(
		[]proxy.Port{{Listen: []string{flags.listen}, AppPort: port, Upstream: flags.upstream}},
		counts.decider(metrics),
		proxy.Options{Admin: flags.admin, Metrics: metrics, Logger: logger},
	)
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
	matcher, err := match.CompileWith(rules, nil, match.Options{Keys: keys})
	if err != nil {
		return fmt.Errorf("prepare rules: %w", err)
	}
	keys.Follow(matcher.KeyURLs())
	server.SetRules(&proxy.Rules{Matcher: matcher, Namespace: rules.Namespace, Revision: revision})
	return nil
}

// portOf is the app's port: that of the URL, or that of its scheme.
func portOf(upstream string) (int32, error) {
	parsed, err := url.Parse(upstream)
	if err != nil || parsed.Host == "" || parsed.Scheme != "http" && parsed.Scheme != "https" {
		return 0, fmt.Errorf("--upstream %q is not a URL of an app: write one such as http://127.0.0.1:9000", upstream)
	}
	port := parsed.Port()
	if port == "" {
		service, err := net.LookupPort("tcp", parsed.Scheme)
		if err != nil {
			return 0, fmt.Errorf("--upstream %q has no port: add one", upstream)
		}
		return int32(service), nil
	}
	number, err := strconv.ParseUint(port, 10, 16)
	if err != nil || number == 0 {
		return 0, fmt.Errorf("--upstream %q has port %q: write a number from 1 to 65535", upstream, port)
	}
	return int32(number), nil
}
