//go:build e2e

// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package e2e

import (
	"bytes"
	"embed"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

//go:embed objects/*.yaml
var objects embed.FS

// cluster is the cluster under test, seen through kubectl.
type cluster struct {
	root, kubectlPath, kubeconfig, images string
	loads                                 int
	// client is where the client in the cluster takes batches of requests.
	client string
	// Keys of issuers: those in a policy, and those served before and after a rotation.
	inline, fetched, rotated signer
}

func newCluster(t *testing.T) *cluster {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	c := &cluster{root: root, kubectlPath: os.Getenv("E2E_KUBECTL"), kubeconfig: os.Getenv("E2E_KUBECONFIG"), images: os.Getenv("E2E_IMAGES")}
	if c.kubeconfig == "" || c.images == "" || c.kubectlPath == "" {
		t.Fatal("E2E_KUBECONFIG, E2E_IMAGES and E2E_KUBECTL must name a cluster, the images' prefix and kubectl; make e2e sets them")
	}
	return c
}

// install puts Redis and Penstock into the cluster and takes all of it out again
// at the end, checking that nothing stays behind.
func (c *cluster) install(t *testing.T) {
	t.Helper()
	t.Cleanup(func() { c.uninstall(t) })
	c.apply(t, "redis.yaml", nil)
	c.deploy(t, "apply")
	c.kubectl(t, "-n", "e2e-redis", "rollout", "status", "deployment/redis", "--timeout=120s")
	c.kubectl(t, "-n", "penstock-system", "rollout", "status", "deployment", "--timeout=120s")
	c.apply(t, "store.yaml", nil)
	c.kubectl(t, "wait", "--for=condition=Connected", "--timeout=60s", "ratelimitstore/default")
}

func (c *cluster) uninstall(t *testing.T) {
	t.Helper()
	if t.Failed() {
		c.describe(t)
	}
	c.deploy(t, "delete")
	c.kubectl(t, "delete", "--ignore-not-found", "mutatingadmissionpolicy,mutatingadmissionpolicybinding", "e2e-issuer-trust")
	if left := c.kubectl(t, "get", "secrets", "--all-namespaces", "-o", "name"); strings.Contains(left, "penstock-sidecar") {
		t.Errorf("undeploy left a Secret beside the apps: %s", left)
	}
	for _, namespace := range []string{shop, "e2e-redis"} {
		c.kubectl(t, "delete", "namespace", namespace, "--ignore-not-found", "--timeout=120s")
	}
	left := c.kubectl(t, "get", "crd,mutatingwebhookconfiguration,validatingadmissionpolicy,clusterrole,clusterrolebinding,namespace", "-o", "name")
	for line := range strings.Lines(left) {
		if strings.Contains(line, "penstock") || strings.Contains(line, "e2e-") {
			t.Errorf("left behind by undeploy: %s", strings.TrimSpace(line))
		}
	}
}

// describe shows what a person would look at when the test has failed.
func (c *cluster) describe(t *testing.T) {
	t.Helper()
	for _, arguments := range [][]string{
		{"get", "pods", "-A", "-o", "wide"}, {"get", "rlpol,rlstore", "-A", "-o", "yaml"}, {"get", "events", "-A"},
		{"-n", "penstock-system", "logs", "deployment/penstock-manager", "--tail=60"},
		{"-n", shop, "logs", "-l", "app=web", "-c", "penstock", "--tail=20"},
		{"-n", shop, "logs", "-l", "story=fields", "-c", "penstock", "--tail=40", "--prefix"},
		{"-n", shop, "describe", "pods"},
	} {
		output, _ := c.command(arguments...).CombinedOutput()
		t.Logf("kubectl %s\n%s", strings.Join(arguments, " "), output)
	}
}

func (c *cluster) deploy(t *testing.T, verb string) {
	t.Helper()
	command := exec.Command(filepath.Join(c.root, "hack/deploy.sh"), verb, c.images, "dev")
	command.Env = append(os.Environ(), "KUBECONFIG="+c.kubeconfig, "KUBECTL="+c.kubectlPath)
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("deploy.sh %s: %v\n%s", verb, err, output)
	}
}

func (c *cluster) command(arguments ...string) *exec.Cmd {
	command := exec.Command(c.kubectlPath, arguments...)
	command.Env = append(os.Environ(), "KUBECONFIG="+c.kubeconfig)
	return command
}

func (c *cluster) kubectl(t *testing.T, arguments ...string) string {
	t.Helper()
	command := c.command(arguments...)
	var problems bytes.Buffer
	command.Stderr = &problems
	output, err := command.Output()
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s%s", strings.Join(arguments, " "), err, output, problems.String())
	}
	return string(output)
}

func (c *cluster) apply(t *testing.T, file string, values map[string]string) {
	t.Helper()
	command := c.command("apply", "-f", "-")
	command.Stdin = strings.NewReader(c.expand(t, file, values))
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("apply %s: %v\n%s", file, err, output)
	}
}

// expand is a file of objects with the images' prefix and further values in it.
func (c *cluster) expand(t *testing.T, file string, values map[string]string) string {
	t.Helper()
	text, err := objects.ReadFile("objects/" + file)
	if err != nil {
		t.Fatal(err)
	}
	expanded := strings.ReplaceAll(string(text), "${IMAGES}", c.images)
	for name, value := range values {
		expanded = strings.ReplaceAll(expanded, "${"+name+"}", value)
	}
	return expanded
}

// result is what the load program prints.
type result struct {
	Status     map[string]int `json:"status"`
	Pods       map[string]int `json:"pods"`
	Errors     int            `json:"errors"`
	FirstError string         `json:"firstError"`
}

// load sends requests to the Service from a pod of its own.
func (c *cluster) load(t *testing.T, count, concurrency int) result {
	t.Helper()
	name := c.startLoad(t, fmt.Sprintf("--requests=%d", count), fmt.Sprintf("--concurrency=%d", concurrency))
	return c.endLoad(t, name, 60*time.Second)
}

// startLoad starts a pod that sends requests to the Service, and returns its name.
func (c *cluster) startLoad(t *testing.T, flags ...string) string {
	t.Helper()
	return c.startClient(t, append([]string{"--url=http://web." + shop + ".svc.cluster.local/"}, flags...)...)
}

// startClient starts a pod with the load program, and returns its name.
func (c *cluster) startClient(t *testing.T, flags ...string) string {
	t.Helper()
	c.loads++
	name := fmt.Sprintf("load-%d", c.loads)
	c.kubectl(t, append([]string{"-n", "e2e-redis", "run", name, "--image=" + c.images + "/load:dev", "--image-pull-policy=IfNotPresent",
		"--restart=Never", "--"}, flags...)...)
	return name
}

// phase is that of a load's pod.
func (c *cluster) phase(t *testing.T, name string) string {
	t.Helper()
	return c.kubectl(t, "-n", "e2e-redis", "get", "pod", name, "-o", "jsonpath={.status.phase}")
}

// endLoad waits until a load has sent all, and returns what it counted.
func (c *cluster) endLoad(t *testing.T, name string, within time.Duration) result {
	t.Helper()
	var r result
	c.endClient(t, name, within, &r)
	return r
}

// endClient waits until a client has ended, and reads the line of JSON that it printed.
func (c *cluster) endClient(t *testing.T, name string, within time.Duration, into any) {
	t.Helper()
	var last string
	c.eventually(t, within, name+" has sent its requests", func() bool {
		last = c.phase(t, name)
		return last == "Succeeded" || last == "Failed"
	}, func() string { return last })
	output := c.kubectl(t, "-n", "e2e-redis", "logs", name)
	c.kubectl(t, "-n", "e2e-redis", "delete", "pod", name, "--wait=false")
	// Other lines are for people.
	for line := range strings.Lines(output) {
		if strings.HasPrefix(line, "{") {
			if err := json.Unmarshal([]byte(line), into); err != nil {
				t.Fatalf("the load program printed %q: %v", output, err)
			}
			return
		}
	}
	t.Fatalf("the load program printed %q", output)
}

// awaitReplicas waits until requests reach so many pods: kube-proxy learns of them a
// moment after they are ready.
func (c *cluster) awaitReplicas(t *testing.T, want int) {
	t.Helper()
	var reached result
	for range 20 {
		if reached = c.load(t, 20*want, 20); len(reached.Pods) == want {
			return
		}
	}
	t.Fatalf("requests reached %+v, want %d pods", reached, want)
}

// seenByApps sums the requests that the apps themselves counted, past the
// sidecars: through the API server to the app's own port.
func (c *cluster) seenByApps(t *testing.T) int {
	t.Helper()
	total := 0
	for name := range strings.FieldsSeq(c.kubectl(t, "-n", shop, "get", "pods", "-l", "app=web", "-o", "jsonpath={.items[*].metadata.name}")) {
		output := c.kubectl(t, "get", "--raw", "/api/v1/namespaces/"+shop+"/pods/"+name+":8080/proxy/count")
		var answer struct{ Count int }
		if err := json.Unmarshal([]byte(output), &answer); err != nil {
			t.Fatalf("the app in %s answered %q: %v", name, output, err)
		}
		total += answer.Count
	}
	return total
}

// eventually polls until the condition holds, and fails with what was seen last.
func (c *cluster) eventually(t *testing.T, within time.Duration, what string, holds func() bool, seen func() string) {
	t.Helper()
	deadline := time.After(within)
	tick := time.NewTicker(250 * time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-deadline:
			t.Fatalf("not within %s: %s; last seen:\n%s", within, what, seen())
		case <-tick.C:
		}
	}
}
