// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"
	"io"
	"text/tabwriter"
)

// StoreState is where requests are counted, and how that goes.
type StoreState struct {
	// Kind is what is counted in, such as "Redis Cluster"; no password.
	Kind string `json:"kind"`
	// BreakerOpen says that the store failed and is not asked at present.
	BreakerOpen bool `json:"breakerOpen"`
	// CorrectionsLost are late charges and give-backs that never reached the store.
	CorrectionsLost int64 `json:"correctionsLost"`
	// MemoryForgotten are counters of this process that made room for others.
	MemoryForgotten int64 `json:"memoryKeysForgotten"`
}

// storeView is what /debug/store tells.
type storeView struct {
	StoreState
	// Errors are calls that gave no verdict, by kind.
	Errors map[string]int64 `json:"errors"`
}

func (s *Server) storeView() (debugView, error) {
	view := &storeView{StoreState: StoreState{Kind: "unknown"}, Errors: map[string]int64{}}
	if s.options.StoreState != nil {
		view.StoreState = s.options.StoreState()
	}
	return view, eachSeries(s.metrics.storeErrors, func(labels map[string]string, value float64) {
		view.Errors[labels["kind"]] = int64(value)
	})
}

func (v *storeView) writeText(to io.Writer) {
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	breaker := "closed: the store is asked"
	if v.BreakerOpen {
		breaker = "open: the store failed and is not asked, each rule's onStoreFailure decides"
	}
	for _, row := range [][2]any{
		{"counting in:", v.Kind}, {"breaker:", breaker}, {"calls without a verdict:", countsText(v.Errors)},
		{"corrections lost:", v.CorrectionsLost}, {"counters forgotten here:", v.MemoryForgotten},
	} {
		_, _ = fmt.Fprintf(table, "%v\t%v\n", row[0], row[1])
	}
	// A buffer takes everything.
	_ = table.Flush()
}
