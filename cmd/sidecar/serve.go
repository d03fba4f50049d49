// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"strconv"
	"sync"
	"time"

	"github.com/penstock-dev/penstock/internal/appprobe"
	"github.com/penstock-dev/penstock/internal/jwks"
	"github.com/penstock-dev/penstock/internal/limiter"
	"github.com/penstock-dev/penstock/internal/proxy"
	"github.com/penstock-dev/penstock/internal/redisconn"
	"github.com/penstock-dev/penstock/internal/store"
)

// breakerInterval is how often the breaker is looked at, to tell of it.
const breakerInterval = 250 * time.Millisecond

// sidecar is all the parts of a running sidecar.
type sidecar struct {
	flags   options
	pod     identity
	log     *slog.Logger
	metrics *proxy.Metrics
	server  *proxy.Server
	rules   *enforcement
	// stores is nil where the rules come from a file.
	stores *storeLink
	// forgotten is how many counters in memory made room for others.
	forgotten func() int64
}

// serve runs the sidecar until the context ends.
func serve(ctx context.Context, flags options, pod identity, log *slog.Logger) error {
	s := &sidecar{flags: flags, pod: pod, log: log, metrics: proxy.NewMetrics(), rules: &enforcement{keys: jwks.New(jwks.Options{Report: tellKeys(log), ReportIgnored: tellIgnored(log)})}}
	labels := watchedFile{path: flags.labels}
	if err := s.readFirstLabels(&labels); err != nil {
		return err
	}
	if err := s.newServer(s.newDecider()); err != nil {
		return err
	}
	if err := errors.Join(s.metrics.WatchCorrectionsLost(s.correctionsLost), s.metrics.WatchMemoryForgotten(s.forgotten)); err != nil {
		return err
	}
	if err := errors.Join(s.metrics.WatchKeyFetchesFailed(s.rules.keys.Failed), s.metrics.WatchKeyURLsIgnored(s.rules.keys.Ignored)); err != nil {
		return err
	}
	if err := s.server.Listen(ctx); err != nil {
		return fmt.Errorf("%w; is another sidecar running at this address?", err)
	}
	if flags.rules != "" {
		update, err := readRulesFile(flags.rules)
		if err == nil {
			err = s.rules.apply(update)
		}
		if err != nil {
			return err
		}
	}
	log.Info("Sidecar starts", "version", version, "pod", pod.name, "namespace", pod.namespace, "ports", flags.ports.String())
	return s.run(ctx, &labels)
}

// newDecider makes what decides: the store with each rule's fallback, or memory
// where a rule set is tried out.
func (s *sidecar) newDecider() limiter.Decider {
	if s.flags.rules != "" {
		memory := limiter.NewMemory(nil, s.flags.memoryKeys)
		s.forgotten = memory.Forgotten
		return memory
	}
	current := &currentDecider{}
	fallback := limiter.WithFallback(current, limiter.FallbackOptions{OnStoreError: s.metrics.StoreError, MaxKeys: s.flags.memoryKeys})
	counted := &countedDecider{next: fallback}
	ofPod := limiter.NewMemory(nil, s.flags.memoryKeys)
	s.forgotten = func() int64 { return fallback.Forgotten() + ofPod.Forgotten() }
	acker := store.NewAcker(s.pod.namespace, store.Ack{PodUID: s.pod.uid, PodName: s.pod.name, Version: version}, store.AckerOptions{
		Sample: func(ack *store.Ack) {
			ack.BreakerOpen, ack.Undecided = current.breakerOpen(), counted.undecided.Load()
			ack.NotHTTP, ack.PeerIsProxy = s.server.NotHTTP(), s.peerIsProxy()
		},
		Report: reporter(s.log, "Acks cannot be written", "Acks are written again"),
	})
	inForce := store.NewInForce(s.pod.namespace, store.Events{
		Apply: s.rules.apply, Changed: acker.Set, Confirmed: func() { s.server.ConfirmRules() },
	})
	s.stores = &storeLink{inForce: inForce, acker: acker, decider: current, log: s.log}
	return limiter.WithPodScope(counted, ofPod)
}

// correctionsLost is 0 in memory, where none can be lost.
func (s *sidecar) correctionsLost() int64 {
	if s.stores == nil {
		return 0
	}
	return s.stores.decider.correctionsLost()
}

func (s *sidecar) newServer(decider limiter.Decider) error {
	hosts := listenHosts(s.pod.ips, canListen)
	appHost := cmp.Or(s.flags.appHost, s.pod.ips[0].String())
	ports := make([]proxy.Port, len(s.flags.ports))
	for i, pair := range s.flags.ports {
		ports[i] = proxy.Port{
			Listen: listenAddresses(hosts, pair.listen), AppPort: pair.app,
			Upstream: net.JoinHostPort(appHost, strconv.Itoa(int(pair.app))),
		}
	}
	options := s.flags.proxy
	options.Admin, options.Metrics, options.Logger = listenAddresses(hosts, int32(s.flags.adminPort)), s.metrics, s.log
	options.Prober, options.StoreState = appprobe.NewProber(appHost, appprobe.Set(s.flags.probes)), s.storeState
	server, err := proxy.New(ports, decider, options)
	if err != nil {
		return err
	}
	s.server, s.rules.setRules = server, server.SetRules
	return nil
}

// storeState tells of the store, for /debug.
func (s *sidecar) storeState() proxy.StoreState {
	state := proxy.StoreState{Kind: "memory of this process", MemoryForgotten: s.forgotten()}
	if s.stores != nil {
		state.Kind = s.stores.kind()
		state.BreakerOpen, state.CorrectionsLost = s.stores.decider.breakerOpen(), s.correctionsLost()
	}
	return state
}

// run serves and follows what changes. What follows the store ends only after the
// server has, since answers under way still ask it.
func (s *sidecar) run(ctx context.Context, labels *watchedFile) error {
	following, stop := context.WithCancel(context.WithoutCancel(ctx))
	var group sync.WaitGroup
	group.Go(func() { s.rules.keys.Run(following) })
	if s.flags.labels != "" {
		group.Go(func() { repeat(following, fileInterval, func() { s.followLabels(labels) }) })
	}
	if s.stores != nil {
		group.Go(func() { s.followStore(following) })
		group.Go(func() { repeat(following, breakerInterval, s.tellBreaker()) })
		group.Go(func() { repeat(following, breakerInterval, s.tellNotHTTP()) })
		group.Go(func() { repeat(following, breakerInterval, s.tellPeerIsProxy()) })
	}
	if s.pod.uid != "" {
		group.Go(func() {
			if err := awaitDrain(following, s.pod.uid, s.server.Drain, s.log); err != nil {
				s.log.Error("The end of the pod will not be heard of", "error", err)
			}
		})
	}
	err := s.server.Run(ctx)
	stop()
	group.Wait()
	s.log.Info("Sidecar has ended")
	return err
}

// followStore keeps the mounted Secret in force until the context ends.
func (s *sidecar) followStore(ctx context.Context) {
	secret := newMounted(s.flags.store)
	secret.log, secret.offer = s.log, s.stores.inForce.Offer
	secret.connect = func(settings redisconn.Settings) error { return s.stores.connect(ctx, settings) }
	secret.watch(ctx)
	s.stores.wait()
}

// tellBreaker returns what notes the breaker's state, and has it acknowledged at
// once when it changes.
func (s *sidecar) tellBreaker() func() {
	last := false
	return func() {
		open := s.stores.decider.breakerOpen()
		if open == last {
			return
		}
		last = open
		s.metrics.SetBreakerOpen(open)
		s.stores.acker.Wake()
		if open {
			s.log.Warn("The store fails and is not asked: each rule's onStoreFailure decides")
			return
		}
		s.log.Info("The store decides again")
	}
}

// tellNotHTTP returns what has the ports that serve TLS acknowledged at once.
func (s *sidecar) tellNotHTTP() func() {
	told := 0
	return func() {
		ports := s.server.NotHTTP()
		if len(ports) == told {
			return
		}
		told = len(ports)
		s.stores.acker.Wake()
		s.log.Warn("The app serves TLS, which passes through and is not limited", "ports", ports)
	}
}

// readFirstLabels reads the pod's labels. Without them rules that select pods
// would silently not apply, so a sidecar that was told of a file needs it.
func (s *sidecar) readFirstLabels(labels *watchedFile) error {
	if s.flags.labels == "" {
		return nil
	}
	content, changed, err := labels.changed()
	if err == nil && !changed {
		err = fmt.Errorf("read %s: %w", labels.path, os.ErrNotExist)
	}
	if err != nil {
		return fmt.Errorf("flag --labels: %w; mount the pod's labels there with a downward API volume", err)
	}
	if s.rules.labels, err = parseLabels(string(content)); err != nil {
		return fmt.Errorf("flag --labels: %s: %w", labels.path, err)
	}
	return nil
}

// followLabels has the rules follow the pod's labels; bad ones change nothing.
func (s *sidecar) followLabels(file *watchedFile) {
	content, changed, err := file.changed()
	if err == nil && changed {
		var labels map[string]string
		if labels, err = parseLabels(string(content)); err == nil {
			err = s.rules.relabel(labels)
		}
	}
	if err != nil {
		s.log.Error("Labels of the pod are of no use, the last ones stay", "file", file.path, "error", err)
	}
}
