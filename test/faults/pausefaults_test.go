// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package faults

import (
	"syscall"
	"time"
)

// clientsPause is how long sidecars get no CPU.
const clientsPause = time.Second

// pauseClients stops the sidecars for a while, and the store goes on.
func pauseClients(s *scene) {
	s.t.Helper()
	for _, l := range s.lanes {
		l.worker.signal(syscall.SIGSTOP)
	}
	// The time that passes is the fault.
	<-time.After(clientsPause)
	for _, l := range s.lanes {
		l.worker.signal(syscall.SIGCONT)
	}
}

func pauseFaults() map[string]fault {
	return map[string]fault{
		"CPU pause of the client": {ownProcess: true, begin: pauseClients, end: nothing, outcome: shaken},
	}
}
