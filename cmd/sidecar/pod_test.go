// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package main

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadPod(t *testing.T) {
	t.Parallel()
	inPod := map[string]string{"POD_NAME": "web-1", "POD_NAMESPACE": "shop", "POD_UID": "u", "POD_IPS": "10.0.0.7, fd00::7"}
	cases := map[string]struct {
		change  map[string]string
		rules   string
		want    []string
		wantErr string
	}{
		"both families":       {want: []string{"10.0.0.7", "fd00::7"}},
		"mapped":              {change: map[string]string{"POD_IPS": "::ffff:10.0.0.7"}, want: []string{"10.0.0.7"}},
		"no name":             {change: map[string]string{"POD_NAME": ""}, wantErr: "POD_NAME"},
		"no uid":              {change: map[string]string{"POD_UID": ""}, wantErr: "POD_UID"},
		"no address":          {change: map[string]string{"POD_IPS": ""}, wantErr: "POD_IPS"},
		"commas only":         {change: map[string]string{"POD_IPS": ","}, wantErr: "POD_IPS"},
		"a host name":         {change: map[string]string{"POD_IPS": "localhost"}, wantErr: "localhost"},
		"tried out elsewhere": {change: map[string]string{"POD_NAME": "", "POD_UID": "", "POD_IPS": ""}, rules: "f", want: []string{"127.0.0.1"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			getenv := func(variable string) string {
				if value, changed := tc.change[variable]; changed {
					return value
				}
				return inPod[variable]
			}
			pod, err := readPod(getenv, options{rules: tc.rules})
			if tc.wantErr != "" {
				if err == nil || !strings.Contains(err.Error(), tc.wantErr) {
					t.Errorf("error %v, want one that names %q", err, tc.wantErr)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, texts(pod.ips)); diff != "" {
				t.Errorf("addresses (-want +got):\n%s", diff)
			}
		})
	}
}

func TestListenHosts(t *testing.T) {
	t.Parallel()
	cases := map[string]struct {
		ips    []string
		noIPv6 bool
		want   []string
	}{
		"pod":                     {ips: []string{"10.0.0.7"}, want: []string{"10.0.0.7", "127.0.0.1", "::1"}},
		"pod without IPv6":        {ips: []string{"10.0.0.7"}, noIPv6: true, want: []string{"10.0.0.7", "127.0.0.1"}},
		"dual stack":              {ips: []string{"10.0.0.7", "fd00::7"}, want: []string{"10.0.0.7", "fd00::7", "127.0.0.1", "::1"}},
		"local process":           {ips: []string{"127.0.0.2"}, want: []string{"127.0.0.2"}},
		"local process over IPv6": {ips: []string{"::1"}, want: []string{"::1"}},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var ips []netip.Addr
			for _, text := range tc.ips {
				ips = append(ips, netip.MustParseAddr(text))
			}
			got := listenHosts(ips, func(address netip.Addr) bool { return address.Is4() || !tc.noIPv6 })
			if diff := cmp.Diff(tc.want, texts(got)); diff != "" {
				t.Errorf("hosts (-want +got):\n%s", diff)
			}
		})
	}
}

func texts(addresses []netip.Addr) []string {
	var all []string
	for _, address := range addresses {
		all = append(all, address.String())
	}
	return all
}
