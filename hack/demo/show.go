// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"text/tabwriter"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
)

// outOfForce is how soon after its deletion a policy must no longer refuse.
const outOfForce = 2 * time.Second

// show sends the requests, prints what came of them, and checks all of it.
func show(ctx context.Context, o options, c *cluster, replicas []replica) error {
	say(fmt.Sprintf("sending %d requests to %d replicas in turn", o.requests, len(replicas)))
	attempts, err := sendInTurn(ctx, replicas, o.requests)
	if err != nil {
		return err
	}
	if err := printTable(os.Stdout, attempts); err != nil {
		return err
	}
	admitted, refused, err := check(ctx, o, replicas, attempts)
	if err != nil {
		return err
	}
	say("the policy, as kubectl shows it")
	if err := c.kubectl(ctx, os.Stdout, "-n", "shop", "get", "rlpol"); err != nil {
		return err
	}
	say("deleting the policy")
	if err := c.kubectl(ctx, os.Stdout, "-n", "shop", "delete", "rlpol", "storefront"); err != nil {
		return err
	}
	if err := waitUntilAllPass(ctx, replicas); err != nil {
		return err
	}
	say("all requests pass again")
	fmt.Printf("\ndemo: %d admitted, %d refused, %d replicas, 1 limit\n", admitted, refused, len(replicas))
	return nil
}

func printTable(out io.Writer, attempts []attempt) error {
	table := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(table, "\nREQUEST\tREPLICA\tVERDICT\tREMAINING\tRETRY AFTER")
	for _, a := range attempts {
		verdict, retryAfter := "admitted", "-"
		if a.status != http.StatusOK {
			verdict = fmt.Sprintf("refused (%d)", a.status)
		}
		if a.retryAfter != "" {
			retryAfter = a.retryAfter + " s"
		}
		fmt.Fprintf(table, "%d\t%s\t%s\t%s\t%s\n", a.number, a.replica, verdict, a.remaining, retryAfter)
	}
	fmt.Fprintln(table)
	return table.Flush()
}

// check holds what was seen against what must be.
func check(ctx context.Context, o options, replicas []replica, attempts []attempt) (admitted, refused int, err error) {
	perReplica := map[string]int{}
	for _, a := range attempts {
		switch a.status {
		case http.StatusOK:
			admitted++
			perReplica[a.replica]++
		case http.StatusTooManyRequests:
			refused++
		default:
			err = errors.Join(err, fmt.Errorf("request %d was answered %d", a.number, a.status))
		}
	}
	if want := min(o.limit, o.requests); admitted != want {
		err = errors.Join(err, fmt.Errorf("%d requests were admitted, not %d", admitted, want))
	}
	seen := 0
	for i, r := range replicas {
		count, countErr := countOf(ctx, r)
		err = errors.Join(err, countErr)
		seen += count
		if i < min(o.limit, o.requests) && perReplica[r.name] == 0 {
			err = errors.Join(err, fmt.Errorf("replica %s admitted nothing", r.name))
		}
		if i < o.requests { // else it was asked nothing
			err = errors.Join(err, checkNoFallback(ctx, r))
		}
	}
	if seen != admitted {
		err = errors.Join(err, fmt.Errorf("the apps saw %d requests, but %d were admitted", seen, admitted))
	}
	return admitted, refused, err
}

// checkNoFallback looks into the sidecar's metrics for a decision that the store
// did not make.
func checkNoFallback(ctx context.Context, r replica) error {
	metrics, err := get(ctx, "http://"+r.admin+"/metrics")
	if err != nil {
		return fmt.Errorf("read the metrics of %s: %w", r.name, err)
	}
	decided := false
	for line := range strings.SplitSeq(string(metrics), "\n") {
		if !strings.HasPrefix(line, "penstock_decisions_total{") {
			continue
		}
		decided = true
		for _, fallback := range []string{"local_allowed", "local_denied", "store_allowed", "store_denied"} {
			if strings.Contains(line, `outcome="`+fallback+`"`) && !strings.HasSuffix(line, " 0") {
				return fmt.Errorf("replica %s decided without the store: %s", r.name, line)
			}
		}
	}
	if !decided {
		return fmt.Errorf("replica %s shows no decision in its metrics", r.name)
	}
	return nil
}

func waitUntilAllPass(ctx context.Context, replicas []replica) error {
	deadline := time.Now().Add(outOfForce)
	var last []attempt
	err := wait.PollUntilContextTimeout(ctx, 50*time.Millisecond, outOfForce, true, func(ctx context.Context) (bool, error) {
		attempts, err := sendInTurn(ctx, replicas, 2*len(replicas))
		last = attempts
		return allAdmitted(attempts), err
	})
	if err != nil || time.Now().After(deadline) {
		return fmt.Errorf("requests are still refused %s after the policy was deleted: %+v", outOfForce, last)
	}
	// From here on every one passes, more than the limit ever let through.
	attempts, err := sendInTurn(ctx, replicas, 2*maxLimit)
	if err == nil && !allAdmitted(attempts) {
		err = errors.New("a request was refused after the policy had gone out of force")
	}
	return err
}

func allAdmitted(attempts []attempt) bool {
	for _, a := range attempts {
		if a.status != http.StatusOK {
			return false
		}
	}
	return true
}
