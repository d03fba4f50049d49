// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/penstock-dev/penstock/internal/redisconn"
	"github.com/penstock-dev/penstock/internal/ruleset"
	"github.com/penstock-dev/penstock/internal/store"
	"github.com/penstock-dev/penstock/test/redistest"
)

const rulesKey = "penstock:rules:" + namespace

// newStore returns a real Redis, and the store in it as the operator sees it.
func newStore(t *testing.T) (*redistest.Server, *store.Store) {
	t.Helper()
	server := redistest.Start(t)
	return server, store.New(server.Client(t), "")
}

func expectStatuses(t *testing.T, p *pod, requests int, want map[int]int) {
	t.Helper()
	if diff := cmp.Diff(want, p.statuses(t, requests)); diff != "" {
		t.Errorf("answers by status (-want +got):\n%s", diff)
	}
}

func TestSidecarsShareALimitAndKeepCountsOverAnEdit(t *testing.T) {
	t.Parallel()
	server, rules := newStore(t)
	first := publish(t, rules, limited(3))
	one, two := newPod(t).mount(t, settingsOf(server)).start(t), newPod(t).mount(t, settingsOf(server)).start(t)
	one.awaitAck(t, rules, ofSequence(first.Sequence))
	two.awaitAck(t, rules, ofSequence(first.Sequence))
	expectStatuses(t, one, 2, map[int]int{200: 2})
	expectStatuses(t, two, 3, map[int]int{200: 1, 429: 2})
	expectStatuses(t, one, 1, map[int]int{429: 1})

	edited := publish(t, rules, limited(5))
	// An ack says that the rules are in force: the very next request meets them.
	ack := one.awaitAck(t, rules, ofSequence(edited.Sequence))
	expectStatuses(t, one, 3, map[int]int{200: 2, 429: 1})
	if ack.Revision != edited.Revision || ack.Version != "dev" || ack.PodName != "web-"+one.ip || ack.Problem != "" {
		t.Errorf("ack %+v does not tell of revision %s", ack, edited.Revision)
	}
	if served := one.served.Load() + two.served.Load(); served != 5 {
		t.Errorf("the apps saw %d requests, want the 5 that were admitted", served)
	}

	without := limited(3)
	without.Policies = nil
	one.awaitAck(t, rules, ofSequence(publish(t, rules, without).Sequence))
	expectStatuses(t, one, 5, map[int]int{200: 5})
	if err := one.stop(t); err != nil {
		t.Errorf("the sidecar ended with %v after SIGTERM", err)
	}
}

func TestSidecarAnswersCurl(t *testing.T) {
	t.Parallel()
	server, rules := newStore(t)
	first := publish(t, rules, limited(1))
	p := newPod(t).mount(t, settingsOf(server)).start(t)
	p.awaitAck(t, rules, ofSequence(first.Sequence))
	curl, err := exec.LookPath("curl")
	if err != nil {
		t.Fatalf("%v; install it (Debian: apt-get install curl)", err)
	}
	for _, want := range []string{"HTTP/1.1 200 OK", "HTTP/1.1 429 Too Many Requests"} {
		output, err := exec.CommandContext(t.Context(), curl, "-si", "http://"+p.address(listenPort)+"/").Output()
		if err != nil || !strings.HasPrefix(string(output), want) {
			t.Errorf("curl: %v\n%s\nwant %s", err, output, want)
		}
	}
}

func TestSidecarKeepsTheRulesWhenTheirKeyIsDeletedOrOlder(t *testing.T) {
	t.Parallel()
	server, rules := newStore(t)
	first := publish(t, rules, limited(1))
	p := newPod(t).mount(t, settingsOf(server)).start(t)
	p.awaitAck(t, rules, ofSequence(first.Sequence))
	expectStatuses(t, p, 2, map[int]int{200: 1, 429: 1})
	client := server.Client(t)
	client.Del(t.Context(), rulesKey)
	announce(t, p, server)
	expectStatuses(t, p, 2, map[int]int{429: 2})
	older := published(t, first.Sequence-1, limited(100))
	client.HSet(t.Context(), rulesKey, "sequence", older.Sequence, "revision", older.Revision, "format", ruleset.Format, "body", older.Body)
	announce(t, p, server)
	expectStatuses(t, p, 2, map[int]int{429: 2})
}

// announce has the sidecar read the store, and returns when it has.
func announce(t *testing.T, p *pod, server *redistest.Server) {
	t.Helper()
	client := server.Client(t)
	reads := func() (calls int64) {
		info := client.Info(t.Context(), "commandstats").Val()
		if _, after, found := strings.Cut(info, "cmdstat_hmget:calls="); found {
			_, _ = fmt.Sscan(strings.SplitN(after, ",", 2)[0], &calls)
		}
		return calls
	}
	// The second read begins when the first has been dealt with.
	for range 2 {
		before := reads()
		if client.Publish(t.Context(), rulesKey, "look").Val() == 0 {
			t.Fatalf("the sidecar at %s does not listen", p.ip)
		}
		eventually(t, func() error {
			if after := reads(); after <= before {
				return fmt.Errorf("%d reads, as before", after)
			}
			return nil
		})
	}
}

func TestSidecarAcknowledgesAnUnsupportedFormat(t *testing.T) {
	t.Parallel()
	server, rules := newStore(t)
	first := publish(t, rules, limited(1))
	p := newPod(t).mount(t, settingsOf(server)).start(t)
	p.awaitAck(t, rules, ofSequence(first.Sequence))
	newer := limited(100)
	newer.Format = ruleset.Format + 1
	publish(t, rules, newer)
	ack := p.awaitAck(t, rules, func(ack store.Ack) bool { return ack.Problem != "" })
	if ack.Problem != store.ProblemUnsupportedFormat || ack.Sequence != first.Sequence {
		t.Errorf("ack %+v, want UnsupportedFormat with sequence %d", ack, first.Sequence)
	}
	expectStatuses(t, p, 2, map[int]int{200: 1, 429: 1})
}

func TestSidecarStartsFromTheSnapshotWhileTheStoreIsDown(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		onStoreFailure ruleset.OnStoreFailure
		want           map[int]int
	}{
		"Local counts here": {onStoreFailure: ruleset.FailLocal, want: map[int]int{200: 2, 429: 1}},
		"Allow admits":      {onStoreFailure: ruleset.FailAllow, want: map[int]int{200: 3}},
		"Deny refuses":      {onStoreFailure: ruleset.FailDeny, want: map[int]int{503: 3}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, rules := newStore(t)
			server.Stop()
			snapshot := limited(2)
			snapshot.Policies[0].Rules[0].OnStoreFailure = tc.onStoreFailure
			p := newPod(t).mount(t, settingsOf(server))
			writeJSON(t, filepath.Join(p.secret, "rules.json"), published(t, 1, snapshot))
			started := time.Now()
			p.start(t).awaitReady(t)
			if took := time.Since(started); took > 5*time.Second {
				t.Errorf("ready after %v: it waited for the store", took)
			}
			expectStatuses(t, p, 3, tc.want)
			server.Restart()
			back := publish(t, rules, limited(4))
			p.awaitAck(t, rules, ofSequence(back.Sequence))
			eventually(t, func() error {
				if p.metric(t, "penstock_breaker_open") != 0 {
					return fmt.Errorf("the breaker is open")
				}
				return nil
			})
			p.awaitAck(t, rules, func(ack store.Ack) bool { return ack.Undecided >= 3 && !ack.BreakerOpen })
		})
	}
}

// TestFirstRequestIsDecidedByTheStore asks as soon as the sidecar is ready, which
// the snapshot makes it at once.
func TestFirstRequestIsDecidedByTheStore(t *testing.T) {
	t.Parallel()
	server, _ := newStore(t)
	p := newPod(t).mount(t, settingsOf(server))
	writeJSON(t, filepath.Join(p.secret, "rules.json"), published(t, 1, limited(2)))
	p.start(t).awaitReady(t)
	expectStatuses(t, p, 3, map[int]int{200: 2, 429: 1})
	for _, series := range []string{"penstock_store_errors_total", "penstock_no_rules_total"} {
		if count := p.metric(t, series); count != 0 {
			t.Errorf("%s is %v, want 0", series, count)
		}
	}
	if local := p.metric(t, "penstock_decisions_total", `outcome="local_allowed"`); local != 0 {
		t.Errorf("%v requests were decided without the store", local)
	}
}

func TestSidecarWithoutRulesServesAfterAWhileAndRecovers(t *testing.T) {
	t.Parallel()
	server, rules := newStore(t)
	server.Stop()
	p := newPod(t).mount(t, settingsOf(server)).start(t)
	eventually(t, func() error {
		response, err := p.try(t.Context(), adminPort, "/readyz")
		if err == nil && response.StatusCode != http.StatusServiceUnavailable {
			t.Fatalf("/readyz answers %s before there are rules", response.Status)
		}
		return err
	})
	p.awaitReady(t)
	expectStatuses(t, p, 2, map[int]int{200: 2})
	if counted := p.metric(t, "penstock_no_rules_total"); counted != 2 {
		t.Errorf("penstock_no_rules_total is %v, want 2", counted)
	}
	server.Restart()
	first := publish(t, rules, limited(1))
	p.awaitAck(t, rules, ofSequence(first.Sequence))
	eventually(t, func() error {
		if p.get(t).StatusCode != http.StatusTooManyRequests {
			return fmt.Errorf("nothing is limited")
		}
		return nil
	})
}

func TestSidecarTakesASecretThatAppearsLaterAndRotates(t *testing.T) {
	t.Parallel()
	server := redistest.Start(t, redistest.WithUsers("one on >first ~* &* +@all", "two on >second ~* &* +@all"))
	rules := store.New(server.Client(t), "")
	first := publish(t, rules, limited(3))
	p := newPod(t).start(t)
	eventually(t, func() error {
		_, err := p.try(t.Context(), adminPort, "/healthz")
		return err
	})
	login := func(name, password string) redisconn.Settings {
		settings := settingsOf(server)
		settings.Username, settings.Password = name, password
		return settings
	}
	p.mount(t, login("one", "first"))
	p.awaitAck(t, rules, ofSequence(first.Sequence))
	expectStatuses(t, p, 1, map[int]int{200: 1})
	p.mount(t, login("two", "second"))
	client := server.Client(t)
	eventually(t, func() error {
		clients := client.ClientList(t.Context()).Val()
		if strings.Contains(clients, "user=one") || !strings.Contains(clients, "user=two") {
			return fmt.Errorf("connected are:\n%s", clients)
		}
		return nil
	})
	expectStatuses(t, p, 3, map[int]int{200: 2, 429: 1})
	second := publish(t, rules, limited(4))
	p.awaitAck(t, rules, ofSequence(second.Sequence))
	if fallback := p.metric(t, "penstock_store_errors_total"); fallback != 0 {
		t.Errorf("%v decisions failed while credentials rotated", fallback)
	}
	for _, password := range []string{"first", "second"} {
		if strings.Contains(p.log.String(), password) {
			t.Errorf("password %q was logged", password)
		}
	}
}

func TestSidecarFollowsItsLabels(t *testing.T) {
	t.Parallel()
	server, rules := newStore(t)
	selective := limited(1)
	selective.Policies[0].Selectors = []ruleset.Selector{{MatchLabels: map[string]string{"app": "web"}}}
	first := publish(t, rules, selective)
	p := newPod(t).mount(t, settingsOf(server))
	labels := filepath.Join(t.TempDir(), "labels")
	write(t, labels, "app=\"api\"\n")
	p.start(t, "--store="+p.secret, "--labels="+labels)
	p.awaitAck(t, rules, ofSequence(first.Sequence))
	expectStatuses(t, p, 3, map[int]int{200: 3})
	write(t, labels, "app=\"web\"\n")
	eventually(t, func() error {
		if p.get(t).StatusCode != http.StatusTooManyRequests {
			return fmt.Errorf("nothing is limited")
		}
		return nil
	})
}

func TestSidecarTriesOutARulesFile(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "rules.json")
	writeJSON(t, file, limited(2))
	p := newPod(t).start(t, "--rules="+file).awaitReady(t)
	expectStatuses(t, p, 3, map[int]int{200: 2, 429: 1})
}

func TestSidecarDrains(t *testing.T) {
	t.Parallel()
	server, rules := newStore(t)
	first := publish(t, rules, limited(100))
	p := newPod(t).mount(t, settingsOf(server)).start(t)
	p.awaitAck(t, rules, ofSequence(first.Sequence))
	drain := exec.CommandContext(t.Context(), "sidecar", "drain")
	drain.Env = append(drain.Environ(), "POD_UID="+p.uid)
	started := time.Now()
	if output, err := drain.CombinedOutput(); err != nil {
		t.Fatalf("sidecar drain: %v\n%s", err, output)
	}
	if took := time.Since(started); took > drainTimeout {
		t.Errorf("drain returned after %v", took)
	}
	response := p.get(t)
	if response.StatusCode != http.StatusOK || !response.Close {
		t.Errorf("while draining: %s, Connection: close is %t; want 200 and close", response.Status, response.Close)
	}
	// The app ends: callers then see the refused connection of a pod without us.
	if err := p.app.Close(); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		response, err := p.try(t.Context(), listenPort, "/")
		if err == nil {
			return fmt.Errorf("it still answers %s", response.Status)
		}
		return nil
	})
	if err := p.stop(t); err != nil {
		t.Errorf("the sidecar ended with %v after SIGTERM", err)
	}
}

func TestSidecarNamesThePortThatIsTaken(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "rules.json")
	writeJSON(t, file, limited(2))
	p := newPod(t).start(t, "--rules="+file).awaitReady(t)
	second := exec.CommandContext(t.Context(), "sidecar", fmt.Sprintf("--port=%d=%d", listenPort, appPort), "--admin-port=15421", "--rules="+file)
	second.Env = append(second.Environ(), "POD_IPS="+p.ip)
	output, err := second.CombinedOutput()
	if err == nil || !strings.Contains(string(output), p.address(listenPort)) {
		t.Errorf("a second sidecar at %s: %v\n%s", p.ip, err, output)
	}
}

func TestSidecarOutlivesAStoreThatHangs(t *testing.T) {
	t.Parallel()
	server, rules := newStore(t)
	first := publish(t, rules, limited(1000))
	settings := settingsOf(server)
	settings.OperationTimeout = redisconn.DefaultOperationTimeout
	p := newPod(t).mount(t, settings).start(t)
	p.awaitAck(t, rules, ofSequence(first.Sequence))
	expectStatuses(t, p, 3, map[int]int{200: 3})
	server.Pause()
	expectStatuses(t, p, 20, map[int]int{200: 20})
	awaitBreaker := func(want float64) {
		t.Helper()
		eventually(t, func() error {
			if open := p.metric(t, "penstock_breaker_open"); open != want {
				return fmt.Errorf("penstock_breaker_open is %v, want %v", open, want)
			}
			return nil
		})
	}
	awaitBreaker(1)
	began := time.Now()
	expectStatuses(t, p, 20, map[int]int{200: 20})
	if took := time.Since(began); took > 20*settings.OperationTimeout {
		t.Errorf("20 requests took %v while the breaker is open: they waited for the store", took)
	}
	server.Resume()
	awaitBreaker(0)
	p.awaitAck(t, rules, func(ack store.Ack) bool { return ack.Undecided >= 20 && !ack.BreakerOpen })
	local := p.metric(t, "penstock_decisions_total", `outcome="local_allowed"`)
	expectStatuses(t, p, 3, map[int]int{200: 3})
	if after := p.metric(t, "penstock_decisions_total", `outcome="local_allowed"`); after != local || local < 20 {
		t.Errorf("%v decisions were local, then %v; want the store to decide again", local, after)
	}
}
