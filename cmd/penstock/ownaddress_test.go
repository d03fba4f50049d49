// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/netip"
	"strings"
	"testing"
)

func TestTheAppIsNotWhereRequestsAreTaken(t *testing.T) {
	t.Parallel()
	tests := map[string]struct {
		upstream, listen string
		want             bool
	}{
		"the same":                   {"http://127.0.0.1:9000", "127.0.0.1:9000", true},
		"by name":                    {"http://localhost:9000", "127.0.0.1:9000", true},
		"both by name":               {"http://localhost:9000", "localhost:9000", true},
		"with a path":                {"http://127.0.0.1:9000/", "127.0.0.1:9000", true},
		"mapped":                     {"http://[::ffff:127.0.0.1]:9000", "127.0.0.1:9000", true},
		"IPv6":                       {"http://[::1]:9000", "[::1]:9000", true},
		"IPv6 in full":               {"http://[0:0:0:0:0:0:0:1]:9000", "[::1]:9000", true},
		"on all":                     {"http://127.0.0.1:9000", ":9000", true},
		"on all of IPv4":             {"http://localhost:9000", "0.0.0.0:9000", true},
		"IPv6 on what 0.0.0.0 means": {"http://[::1]:9000", "0.0.0.0:9000", true},
		"on all of IPv6":             {"http://127.0.0.1:9000", "[::]:9000", true},
		"another loopback on all":    {"http://127.0.0.7:9000", ":9000", true},
		"to all":                     {"http://0.0.0.0:9000", "127.0.0.1:9000", true},
		"to all of IPv6":             {"http://[::]:9000", "[::1]:9000", true},
		"to no host":                 {"http://:9000", "127.0.0.1:9000", true},
		"default port":               {"http://localhost", "127.0.0.1:80", true},
		"another port":               {"http://127.0.0.1:9000", "127.0.0.1:9001", false},
		"any free port":              {"http://127.0.0.1:9000", "127.0.0.1:0", false},
		"another loopback":           {"http://127.0.0.2:9000", "127.0.0.1:9000", false},
		"another family":             {"http://[::1]:9000", "127.0.0.1:9000", false},
		"another machine":            {"http://192.0.2.7:9000", ":9000", false},
		"a name that is unknown":     {"http://app.invalid:9000", ":9000", false},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			err := refuseItself(t.Context(), tc.upstream, tc.listen)
			if (err != nil) != tc.want || err != nil && !strings.Contains(err.Error(), "requests would go round in circles: name the app") {
				t.Errorf("error %v, want one: %t", err, tc.want)
			}
		})
	}
	own := netip.MustParseAddr("198.51.100.1")
	if at := reaches([]netip.Addr{own}, []netip.Addr{netip.IPv4Unspecified()}, []netip.Addr{own}); at != own {
		t.Errorf("an address of this machine is not where all of it is listened on: %v", at)
	}
}

func TestListenSaysHowToWriteIt(t *testing.T) {
	t.Parallel()
	for address, want := range map[string]string{
		"47300":             "write 127.0.0.1:47300, or :47300 for all",
		"localhost":         "has no port: write one such as localhost:8080",
		"::1":               "has no port: write one such as [::1]:8080",
		"::1:8080:":         "write one such as 127.0.0.1:8080 or [::1]:8080",
		"http://127.0.0.1":  "is no address with a port",
		"127.0.0.1:":        `has port ""`,
		"127.0.0.1:70000":   `has port "70000": write a number from 0 to 65535`,
		"127.0.0.1:0":       "",
		":8080":             "",
		"[::]:8080":         "",
		"localhost:http":    "",
		"app.example:15480": "",
	} {
		err := checkListen("listen", address)
		if want == "" && err != nil || want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: error %v, want %q", address, err, want)
		}
	}
}
