// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"fmt"
	"io"
	"strconv"
	"text/tabwriter"
	"time"
)

// refusedView is what /debug/refused tells.
type refusedView struct {
	// Heaviest are those refused most, the heaviest first.
	Heaviest []heavyView `json:"heaviest"`
	// NotLogged are how many refusals the log left out.
	NotLogged int64 `json:"notLogged"`
}

type heavyView struct {
	Policy string `json:"policy"`
	Rule   string `json:"rule"`
	// Limit and Identity are empty where requests lacked what the rule counts by.
	Limit string `json:"limit"`
	// Identity is the partition key that the client gets as pk.
	Identity string `json:"identity"`
	// Refused is at most this, and at least AtLeast: others may have been counted in
	// the same place before.
	Refused int64     `json:"refused"`
	AtLeast int64     `json:"atLeast"`
	Last    time.Time `json:"last"`
}

func (s *Server) refusedView() (debugView, error) {
	view := &refusedView{Heaviest: []heavyView{}, NotLogged: s.observing.log.omissions()}
	for _, entry := range s.observing.heaviest.list() {
		view.Heaviest = append(view.Heaviest, heavyView{
			Policy: entry.policy, Rule: entry.rule, Limit: entry.limit, Identity: entry.identity,
			Refused: entry.count, AtLeast: entry.count - entry.excess, Last: entry.last.UTC(),
		})
	}
	return view, nil
}

func (v *refusedView) writeText(to io.Writer) {
	table := tabwriter.NewWriter(to, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "IDENTITY\tPOLICY/RULE/LIMIT\tREFUSED\tLAST")
	for i := range v.Heaviest {
		entry := &v.Heaviest[i]
		identity, count := entry.Identity, strconv.FormatInt(entry.Refused, 10)
		if identity == "" {
			identity = "-"
		}
		if entry.AtLeast < entry.Refused {
			count = fmt.Sprintf("%d to %d", entry.AtLeast, entry.Refused)
		}
		name := entry.Policy + "/" + entry.Rule
		if entry.Limit != "" {
			name += "/" + entry.Limit
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", identity, name, count, entry.Last.Format(time.RFC3339))
	}
	// A buffer takes everything.
	_ = table.Flush()
	_, _ = fmt.Fprintf(to, "\nAn identity is the pk of the RateLimit field that its client gets. Refusals left out of the log: %d.\n", v.NotLogged)
}
