// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/penstock-dev/penstock/test/redistest"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"penstock": main})
}

// TestCommandLine runs the scripts with an app at $UPSTREAM that knows a wrong
// password, a free address in $LISTEN, an address at which nothing listens in
// $NOWHERE, and the folder of the samples in $SAMPLES.
func TestCommandLine(t *testing.T) {
	t.Parallel()
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.PostFormValue("password") == "wrong" {
			w.WriteHeader(http.StatusUnauthorized)
		}
		fmt.Fprintln(w, "app saw", r.URL.Path)
	}))
	t.Cleanup(app.Close)
	samples, err := filepath.Abs("../../config/samples")
	if err != nil {
		t.Fatal(err)
	}
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			env.Setenv("UPSTREAM", app.URL)
			env.Setenv("SAMPLES", samples)
			for _, name := range []string{"LISTEN", "NOWHERE"} {
				address, err := freeAddress()
				if err != nil {
					return err
				}
				env.Setenv(name, address)
			}
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"interrupt": interrupt, "redis": startRedis(t)},
	})
}

// startRedis sets $REDIS to the address of a real server of its own.
func startRedis(t *testing.T) func(*testscript.TestScript, bool, []string) {
	return func(script *testscript.TestScript, _ bool, _ []string) {
		script.Setenv("REDIS", redistest.Start(t).Addr())
	}
}

// interrupt sends what Ctrl-C sends to the programs in the background.
func interrupt(script *testscript.TestScript, _ bool, _ []string) {
	for _, command := range script.BackgroundCmds() {
		if err := command.Process.Signal(os.Interrupt); err != nil {
			script.Fatalf("interrupt %v: %v", command.Args, err)
		}
	}
}

func freeAddress() (string, error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}
