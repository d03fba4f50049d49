// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package settings

import (
	"flag"
	"fmt"
	"io"
	"strings"
)

// Groups are the flags of a program, in the order in which help shows them.
type Groups struct{ groups []group }

type group struct {
	title string
	flags *flag.FlagSet
	// order has the names as they were defined: a flag.FlagSet sorts them.
	order []string
}

// Group begins a group of flags that help shows under a title.
func (g *Groups) Group(title string) *Group {
	g.groups = append(g.groups, group{title: title, flags: flag.NewFlagSet(title, flag.ContinueOnError)})
	return &Group{of: g, index: len(g.groups) - 1}
}

// Group defines flags.
type Group struct {
	of    *Groups
	index int
}

// Var defines a flag. Its usage is one sentence without an end, in which backquotes
// mark the word that stands for the value.
func (g *Group) Var(value flag.Value, name, usage string) {
	own := &g.of.groups[g.index]
	own.flags.Var(value, name, usage)
	own.order = append(own.order, name)
}

// All visits all flags in the order of help.
func (g *Groups) All(visit func(*flag.Flag)) {
	for _, group := range g.groups {
		for _, name := range group.order {
			visit(group.flags.Lookup(name))
		}
	}
}

// FlagSet returns all flags as one set. It prints nothing by itself.
func (g *Groups) FlagSet(name string) *flag.FlagSet {
	set := flag.NewFlagSet(name, flag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.Usage = func() {}
	g.All(func(f *flag.Flag) { set.Var(f.Value, f.Name, f.Usage) })
	return set
}

// helpWidth is where lines of help end.
const helpWidth = 100

// WriteHelp writes what each flag says, group by group.
func (g *Groups) WriteHelp(to io.Writer) {
	for _, group := range g.groups {
		_, _ = fmt.Fprintf(to, "\n%s:\n", group.title)
		for _, name := range group.order {
			writeFlag(to, group.flags.Lookup(name))
		}
	}
}

func writeFlag(to io.Writer, f *flag.Flag) {
	kind, usage := flag.UnquoteUsage(f)
	head := "  --" + f.Name
	if boolean, ok := f.Value.(interface{ IsBoolFlag() bool }); kind != "" && (!ok || !boolean.IsBoolFlag()) {
		head += "=" + kind
	}
	if f.DefValue != "" && f.DefValue != "false" {
		usage += " (absent: " + f.DefValue + ")"
	}
	_, _ = fmt.Fprintln(to, head)
	for _, line := range wrap(usage, helpWidth-6) {
		_, _ = fmt.Fprintln(to, "      "+line)
	}
}

// wrap breaks a text into lines of at most so many bytes, but for longer words.
func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
			lines, line = append(lines, line), ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}
