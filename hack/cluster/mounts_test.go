// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const mountTable = `27 1 254:0 / / rw,relatime - ext4 /dev/vda rw
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime shared:4 - cgroup cgroup rw,cpu
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
50 27 0:50 / /var/lib/penstock-cluster rw,relatime - tmpfs t rw
51 50 0:51 / /var/lib/penstock-cluster/a\040b rw,relatime - tmpfs t rw
52 27 0:52 / /var/lib/penstock-cluster-other rw,relatime - tmpfs t rw
`

func TestMountsBelow(t *testing.T) {
	t.Parallel()
	want := []string{"/var/lib/penstock-cluster/a b", "/var/lib/penstock-cluster"}
	if diff := cmp.Diff(want, mountsBelow("/var/lib/penstock-cluster", mountTable)); diff != "" {
		t.Errorf("mounts, the last first (-want +got):\n%s", diff)
	}
}

func TestCgroupMounts(t *testing.T) {
	t.Parallel()
	want := []string{"/sys/fs/cgroup/cpu", "/sys/fs/cgroup/unified"}
	if diff := cmp.Diff(want, cgroupMounts(mountTable)); diff != "" {
		t.Errorf("cgroup hierarchies (-want +got):\n%s", diff)
	}
}
