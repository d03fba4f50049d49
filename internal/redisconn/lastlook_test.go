// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package redisconn

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// connected are the two ends of a connection.
func connected(t *testing.T) (here, there net.Conn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	if here, err = net.Dial("tcp", listener.Addr().String()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = here.Close() })
	if there, err = listener.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = there.Close() })
	return here, there
}

func TestAnAnswerThatIsThereIsReadAfterTheDeadline(t *testing.T) {
	t.Parallel()
	for name, set := range map[string]func(net.Conn, time.Time) error{
		"read deadline": net.Conn.SetReadDeadline, "deadline": net.Conn.SetDeadline,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			socket, server := connected(t)
			here := &lastLook{Conn: socket}
			for _, text := range []string{"one", "two"} {
				if err := set(here, time.Now().Add(time.Minute)); err != nil {
					t.Fatal(err)
				}
				if _, err := server.Write([]byte(text + ".")); err != nil {
					t.Fatal(err)
				}
				got := make([]byte, len(text))
				if _, err := io.ReadFull(here, got); err != nil {
					t.Fatal(err)
				}
				// What is left has arrived; the deadline passes before it is read.
				if err := set(here, time.Unix(1, 0)); err != nil {
					t.Fatal(err)
				}
				if count, err := here.Read(got); count != 1 || err != nil {
					t.Errorf("after %q and the deadline: %d bytes, %v, want the one that is there", text, count, err)
				}
			}
		})
	}
}

func TestALastLookIsShortAndTheLast(t *testing.T) {
	t.Parallel()
	socket, server := connected(t)
	here := &lastLook{Conn: socket}
	if err := here.SetReadDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	if _, err := here.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("nothing came: %v, want an exceeded deadline", err)
	}
	if took := time.Since(began); took < LastLook || took > time.Second {
		t.Errorf("looked for %v, want %v", took, LastLook)
	}
	if _, err := server.Write([]byte("late")); err != nil {
		t.Fatal(err)
	}
	if count, err := here.Read(make([]byte, 4)); count > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("looked a second time: %d bytes, %v, want an exceeded deadline", count, err)
	}
}
