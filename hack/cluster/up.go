// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/penstock-dev/penstock/hack/controlplane/programs"
)

// up makes the node run. What an interrupted run left is removed first; a node that
// serves is left alone, and only gets the images as they are now.
func up(ctx context.Context, c checkout) error {
	began := time.Now()
	serving, err := inspect(ctx, c)
	if err != nil {
		return err
	}
	if serving {
		fmt.Println("the cluster is already up")
	} else {
		if err := create(ctx, c); err != nil {
			return err
		}
	}
	if err := load(ctx, c, nil); err != nil {
		return err
	}
	fmt.Printf("cluster up after %s\n", time.Since(began).Round(100*time.Millisecond))
	fmt.Printf("kubeconfig: %s\n", kubeconfig())
	fmt.Printf("use it:     nsenter --net=%s %s --kubeconfig %s get nodes\n", namespacePath, c.program("kubectl"), kubeconfig())
	fmt.Printf("logs:       %s\n", in("log"))
	return nil
}

// inspect reports whether a node of this checkout serves. The node of another
// checkout that still exists is not touched: somebody may be using it.
func inspect(ctx context.Context, c checkout) (serving bool, err error) {
	r, err := readRecord()
	if err != nil {
		return false, err
	}
	if !r.alive() {
		return false, nil
	}
	if _, err := os.Stat(checkout{Root: r.Root}.program("kubelet")); err != nil {
		fmt.Printf("a node runs from %s, which is gone; it is replaced\n", r.Root)
		return false, nil //nolint:nilerr // its being gone is the answer
	}
	if err := probe(ctx, c); err != nil {
		fmt.Println("a node runs but does not serve; it is replaced:", err)
		return false, nil
	}
	if r.Root != c.Root {
		return false, fmt.Errorf("a cluster from another checkout, %s, is up, and a machine holds one: end it with make cluster-down, here or there", r.Root)
	}
	return true, nil
}

// create builds what the node needs and starts it. If it does not come up, nothing of
// it stays.
func create(ctx context.Context, c checkout) error {
	if err := prerequisites(ctx, c); err != nil {
		return err
	}
	if err := clean(ctx); err != nil {
		return err
	}
	err := start(ctx, c)
	if err != nil {
		// Clean up even when the reason is that ctx ended.
		err = errors.Join(err, clean(context.WithoutCancel(ctx)))
	}
	return err
}

func prerequisites(ctx context.Context, c checkout) error {
	if _, err := os.Stat(filepath.Join(c.images(), pauseArchive)); err != nil {
		return fmt.Errorf("find the image that every pod needs: %w (run make images)", err)
	}
	if err := installPackages(ctx); err != nil {
		return err
	}
	controlPlane, err := programs.ControlPlane(c.Root)
	if err != nil {
		return err
	}
	if err := programs.Build(ctx, c.Root, c.controlPlane(), controlPlane, os.Stdout); err != nil {
		return err
	}
	node, err := programs.Node(c.Root)
	if err != nil {
		return err
	}
	return programs.Build(ctx, c.Root, c.bin(), node, os.Stdout)
}

func start(ctx context.Context, c checkout) error {
	if err := writeConfiguration(); err != nil {
		return err
	}
	if err := addCgroups(); err != nil {
		return err
	}
	if err := addNetwork(ctx); err != nil {
		return err
	}
	return startNode(ctx, c)
}

// verbProbe is how up asks, from inside the node's network namespace, whether it serves.
const verbProbe = "probe"

func probe(ctx context.Context, c checkout) error {
	ctx, cancel := context.WithTimeout(ctx, 15*time.Second)
	defer cancel()
	cmd, err := insideNetwork(ctx, c, verbProbe)
	if err != nil {
		return err
	}
	if output, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("ask whether the node serves: %w: %s", err, lastLines(string(output), 2))
	}
	return nil
}

// insideNetwork prepares this program to run in the node's network namespace. nsenter,
// not ip netns exec: the latter mounts /sys anew, which hides the cgroup hierarchies.
func insideNetwork(ctx context.Context, c checkout, verb string) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	cmd := exec.CommandContext(ctx, "nsenter", "--net="+namespacePath, "--", self, verb)
	cmd.Dir = c.Root
	return cmd, nil
}
