// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package history

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"time"
)

// Task is what one process of workers does.
type Task struct {
	// Addr is the store's.
	Addr  string
	Scene Scene
	// Processes is how many there are, and Process which of them this is. Seed and it
	// make the random numbers.
	Processes, Process int
	Seed               uint64
	// Workers is how many ask at once in this process.
	Workers int
	// Every is how often a worker makes a request at most; 0 is as often as it can.
	Every time.Duration
	// Decisions is how many the process makes before it says that it is done, those
	// without the store not counted but for leases. It goes on until all processes are:
	// so all work at the same time.
	Decisions int64
	// Output is the file of the records.
	Output string
}

const (
	// patience is the deadline of a decision: no store failure is wanted here.
	patience = 20 * time.Second
	// mostPerDecision bounds how many records a worker makes for each decision of its
	// task, while it waits for the others.
	mostPerDecision = 40
)

// The words between the processes.
const (
	saysReady = "ready"
	saysDone  = "done"
)

// Work does a task. It says ready on its output, begins when it can read a line, says
// done, and ends when there is nothing more to read.
func Work(ctx context.Context, task Task, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	asked, err := connect(ctx, task.Addr)
	if err != nil {
		return err
	}
	commands := bufio.NewScanner(in)
	fmt.Fprintln(out, saysReady)
	if !commands.Scan() {
		asked.close()
		return errors.New("work on a history: the word to begin never came")
	}
	var stop atomic.Bool
	go func() {
		for commands.Scan() {
			// What is said after the beginning means nothing; its end does.
			continue
		}
		stop.Store(true)
	}()
	workers := work(ctx, task, asked, &stop, func() { fmt.Fprintln(out, saysDone) })
	asked.close()
	return save(task.Output, workers)
}

// work has the workers of a process work until they are stopped.
func work(ctx context.Context, task Task, asked *limiters, stop *atomic.Bool, done func()) []*worker {
	limits, quota := task.Scene.limits(task.Processes), &quota{left: task.Decisions, reached: done}
	workers := make([]*worker, task.Workers)
	var running sync.WaitGroup
	for i := range workers {
		workers[i] = &worker{
			name: fmt.Sprintf("%d.%d", task.Process, i), scene: task.Scene, limits: limits, names: limits.Names(),
			random: rand.New(rand.NewPCG(task.Seed, uint64(task.Process*1000+i))), asked: asked, quota: quota,
			every: task.Every,
		}
		running.Go(func() { workers[i].run(ctx, stop, int(task.Decisions)*mostPerDecision) })
	}
	running.Wait()
	return workers
}

// quota is how many decisions of a process are left.
type quota struct {
	mu      sync.Mutex
	left    int64
	reached func()
}

func (q *quota) take() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.left--
	if q.left == 0 {
		q.reached()
	}
}

// save writes what workers recorded, once all that they gave back was answered.
func save(path string, workers []*worker) error {
	file, err := os.Create(path)
	if err != nil {
		return fmt.Errorf("save a history: %w", err)
	}
	to := bufio.NewWriter(file)
	for _, w := range workers {
		err = errors.Join(err, w.err, w.complete())
		for _, record := range w.records {
			if written := record.Write(to); written != nil {
				return errors.Join(written, file.Close())
			}
		}
	}
	return errors.Join(err, to.Flush(), file.Close())
}
