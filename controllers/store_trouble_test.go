// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package controllers_test

import (
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/penstock-dev/penstock/api/v1alpha1"
	"github.com/penstock-dev/penstock/internal/keys"
	"github.com/penstock-dev/penstock/internal/store"
	"github.com/penstock-dev/penstock/test/redistest"
)

// soon is what "back within seconds" means.
const soon = 10 * time.Second

func TestDeletedKeyIsBackWithinSeconds(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	s.policy("web")
	eventually(t, "published rules", s.rules, []string{"web@1: 10"})
	before := s.published().Sequence
	for _, damage := range []struct {
		what string
		do   func() error
	}{
		{"a deleted key", func() error { return s.rdb.Del(t.Context(), keys.Prefix(keys.DefaultPrefix).Rules(s.namespace)).Err() }},
		{"an edited revision", func() error {
			return s.rdb.HSet(t.Context(), keys.Prefix(keys.DefaultPrefix).Rules(s.namespace), "revision", "other").Err()
		}},
		{"a flush", func() error { return s.rdb.FlushAll(t.Context()).Err() }},
	} {
		if err := damage.do(); err != nil {
			t.Fatal(err)
		}
		within(t, soon, "a later publication after "+damage.what, func() bool { return s.published().Sequence > before }, true)
		if got, want := s.rules(), []string{"web@1: 10"}; !slices.Equal(got, want) {
			t.Errorf("published rules after %s are %q, want %q", damage.what, got, want)
		}
		before = s.published().Sequence
	}
}

func TestDamagedBodyIsMendedWhenASidecarMeetsIt(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	pod := s.pod("web-1")
	s.policy("web")
	eventually(t, "published rules", s.rules, []string{"web@1: 10"})
	before := s.published().Sequence
	if err := s.rdb.HSet(t.Context(), keys.Prefix(keys.DefaultPrefix).Rules(s.namespace), "body", "damaged").Err(); err != nil {
		t.Fatal(err)
	}
	s.acknowledgeAs(pod, store.Ack{Problem: store.ProblemInvalidRuleSet})
	within(t, soon, "a later publication", func() bool { return s.published().Sequence > before }, true)
	if got, want := s.rules(), []string{"web@1: 10"}; !slices.Equal(got, want) {
		t.Errorf("published rules are %q, want %q", got, want)
	}
}

func TestKeysOfAnotherTypeMakeWay(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	pod := s.pod("web-1")
	policy := s.policy("web")
	eventually(t, "published rules", s.rules, []string{"web@1: 10"})
	for _, key := range []string{keys.Prefix(keys.DefaultPrefix).Rules(s.namespace), keys.Prefix(keys.DefaultPrefix).Acks(s.namespace)} {
		if err := s.rdb.Set(t.Context(), key, "put here by hand", 0).Err(); err != nil {
			t.Fatal(err)
		}
		within(t, soon, "type of key "+key, func() bool { return s.rdb.Type(t.Context(), key).Val() != "string" }, true)
		eventually(t, "published rules", s.rules, []string{"web@1: 10"})
		s.acknowledge(pod)
		eventually(t, "ready", func() string { return s.condition(policy, v1alpha1.ConditionReady) }, "True/Ready")
	}
	s.stopOperator()
	rules := keys.Prefix(keys.DefaultPrefix).Rules(s.namespace)
	if err := s.rdb.Set(t.Context(), rules, "put here by hand", 0).Err(); err != nil {
		t.Fatal(err)
	}
	s.startOperator()
	within(t, soon, "type of the rules after a restart", func() string { return s.rdb.Type(t.Context(), rules).Val() }, "hash")
}

func TestStoreOutageIsUnknownAndHeals(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	pod := s.pod("web-1")
	policy := s.policy("web")
	eventually(t, "published rules", s.rules, []string{"web@1: 10"})
	s.acknowledge(pod)
	eventually(t, "ready", func() string { return s.condition(policy, v1alpha1.ConditionReady) }, "True/Ready")

	s.redis.Stop()
	eventually(t, "enforced in an outage", func() string { return s.condition(policy, v1alpha1.ConditionEnforced) }, "Unknown/StoreUnavailable")
	eventually(t, "ready in an outage", func() string { return s.condition(policy, v1alpha1.ConditionReady) }, "Unknown/StoreUnavailable")
	if got := s.pods(policy); got != "1/1" {
		t.Errorf("pods are %s in an outage, want the last known 1/1", got)
	}
	eventually(t, "store", s.connected, "False/Unreachable")

	s.redis.Restart()
	eventually(t, "published rules after an outage", func() bool { return s.redisAnswers() && slices.Equal(s.rules(), []string{"web@1: 10"}) }, true)
	s.acknowledge(pod)
	eventually(t, "ready after an outage", func() string { return s.condition(policy, v1alpha1.ConditionReady) }, "True/Ready")
	eventually(t, "store", s.connected, "True/Connected")
	if reasons := s.eventReasons("web"); slices.Contains(reasons, v1alpha1.ReasonStoreUnavailable) {
		t.Errorf("events of the policy are %q, want none about the outage", reasons)
	}
}

func TestStoreThatHangsHoldsUpNobodyForLong(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	policy := s.policy("web")
	eventually(t, "ready", func() string { return s.condition(policy, v1alpha1.ConditionReady) }, "True/NoPods")
	s.redis.Pause()
	defer s.redis.Resume()
	eventually(t, "enforced while the store hangs", func() string { return s.condition(policy, v1alpha1.ConditionEnforced) }, "Unknown/StoreUnavailable")
	s.redis.Resume()
	eventually(t, "ready when it goes on", func() string { return s.condition(policy, v1alpha1.ConditionReady) }, "True/NoPods")
}

func TestMissingStoreIsNamedUntilItComes(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	store := s.storeObject()
	if err := s.client.Delete(t.Context(), store); err != nil {
		t.Fatal(err)
	}
	policy := s.policy("web")
	eventually(t, "ready without a store", func() string { return s.condition(policy, v1alpha1.ConditionReady) }, "False/StoreNotFound")
	create(t, s.client, s.storeObject())
	eventually(t, "ready", func() string { return s.condition(policy, v1alpha1.ConditionReady) }, "True/NoPods")
}

func TestRulesInAnotherStoreAreNewer(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	policy := s.policy("web")
	eventually(t, "published rules", s.rules, []string{"web@1: 10"})
	// As if the clock of this store were an hour ahead of the other's.
	ahead := s.published().Sequence + time.Hour.Microseconds()
	if err := s.rdb.HSet(t.Context(), keys.Prefix(keys.DefaultPrefix).Rules(s.namespace), "sequence", ahead).Err(); err != nil {
		t.Fatal(err)
	}
	s.edit(policy, func(spec *v1alpha1.RateLimitPolicySpec) { spec.Rules[0].Limits[0].Requests = 20 })
	eventually(t, "a publication ahead of time", func() bool { return s.published().Sequence > ahead }, true)

	other := redistest.Start(t, redistest.WithUsers(storeUsers...))
	s.editStore(func(spec *v1alpha1.RateLimitStoreSpec) { spec.Addresses = []string{other.Addr()} })
	there := store.New(other.Client(t), keys.DefaultPrefix)
	eventually(t, "a newer publication in the other store", func() bool {
		published, err := there.Load(t.Context(), s.namespace)
		if err != nil {
			t.Fatal(err)
		}
		return published.Sequence > ahead
	}, true)
	eventually(t, "address for sidecars", func() bool { return bytes.Contains(s.secret().Data["store.json"], []byte(other.Addr())) }, true)
	eventually(t, "ready", func() string { return s.condition(policy, v1alpha1.ConditionReady) }, "True/NoPods")
}

func TestNamespaceMovesToTheStoreOfItsLabel(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	policy := s.policy("web")
	eventually(t, "published rules", s.rules, []string{"web@1: 10"})
	other := redistest.Start(t, redistest.WithUsers(storeUsers...))
	second := s.storeObject()
	second.Name += "-second"
	second.Spec.Addresses = []string{other.Addr()}
	create(t, s.client, second)
	there := store.New(other.Client(t), keys.DefaultPrefix)
	stands := func() bool {
		published, err := there.Load(t.Context(), s.namespace)
		if err != nil {
			t.Fatal(err)
		}
		return published.Sequence > 0
	}

	s.label(v1alpha1.LabelStore, second.Name)
	eventually(t, "rules in the second store", stands, true)
	eventually(t, "rules in the first store", s.rules, nil)
	eventually(t, "address for sidecars", func() bool { return bytes.Contains(s.secret().Data["store.json"], []byte(other.Addr())) }, true)
	eventually(t, "store in status", func() string { return s.read(policy).Status.Effective.Store }, second.Name)

	s.label(v1alpha1.LabelStore, "nowhere")
	eventually(t, "ready", func() string { return s.condition(policy, v1alpha1.ConditionReady) }, "False/StoreNotFound")
	s.label(v1alpha1.LabelStore, s.namespace)
	eventually(t, "rules in the first store again", s.rules, []string{"web@1: 10"})
	eventually(t, "ready", func() string { return s.condition(policy, v1alpha1.ConditionReady) }, "True/NoPods")
}

func TestStoreOfAnotherClusterIsLeftAlone(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	eventually(t, "store", s.connected, "True/Connected")
	owner := keys.Prefix(keys.DefaultPrefix).Owner()
	if err := s.rdb.Set(t.Context(), owner, "another-cluster", 0).Err(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "store", s.connected, "False/PrefixInUse")
	s.policy("web")
	policy := s.policy("zoo")
	eventually(t, "ready", func() string { return s.condition(policy, v1alpha1.ConditionReady) }, "False/StoreUnavailable")
	if rules := s.rules(); len(rules) != 0 {
		t.Errorf("published rules are %q, want none in another cluster's store", rules)
	}
	if err := s.rdb.Del(t.Context(), owner).Err(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "store, when the other cluster left", s.connected, "True/Connected")
}

func TestStoreReportsWhatItFound(t *testing.T) {
	t.Parallel()
	s := newScene(t)
	eventually(t, "store", s.connected, "True/Connected")
	status := s.readStore().Status
	if status.Version == "" || status.RoundTrip == "" || status.Namespaces != 1 {
		t.Errorf("status is %+v, want a version, a round trip and one namespace", status)
	}
	s.editStore(func(spec *v1alpha1.RateLimitStoreSpec) { spec.Credentials.SecretRef.Name = "nowhere" })
	eventually(t, "store with a Secret that does not exist", s.connected, "False/CredentialsRefused")
	s.editStore(func(spec *v1alpha1.RateLimitStoreSpec) { spec.Credentials.SecretRef.Name = s.namespace + "-operator" })
	eventually(t, "store", s.connected, "True/Connected")
	s.editStore(func(spec *v1alpha1.RateLimitStoreSpec) { spec.SidecarCredentials.SecretRef.Name = "nowhere" })
	eventually(t, "store with no Secret for sidecars", s.connected, "False/CredentialsRefused")
	s.editStore(func(spec *v1alpha1.RateLimitStoreSpec) { spec.Isolation, spec.SidecarCredentials = "", nil })
	eventually(t, "store without isolation", func() string {
		return conditionOf(s.readStore().Status.Conditions, v1alpha1.ConditionAccepted)
	}, "False/NotImplemented")
	if message := s.readStore().Status.Problems[0].Field; !strings.HasPrefix(message, "spec.isolation") {
		t.Errorf("the problem is about %q, want spec.isolation", message)
	}
}

func (s *scene) readStore() *v1alpha1.RateLimitStore {
	s.t.Helper()
	store := &v1alpha1.RateLimitStore{}
	if err := s.client.Get(s.t.Context(), client.ObjectKey{Name: s.namespace}, store); err != nil {
		s.t.Fatalf("read store: %v", err)
	}
	return store
}

func (s *scene) editStore(change func(*v1alpha1.RateLimitStoreSpec)) {
	s.t.Helper()
	before := s.readStore()
	after := before.DeepCopy()
	change(&after.Spec)
	if err := s.client.Patch(s.t.Context(), after, client.MergeFrom(before)); err != nil {
		s.t.Fatalf("edit store: %v", err)
	}
}

func (s *scene) connected() string {
	return conditionOf(s.readStore().Status.Conditions, v1alpha1.ConditionConnected)
}

func (s *scene) redisAnswers() bool { return s.rdb.Ping(s.t.Context()).Err() == nil }
