// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxyrun

import (
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMain(m *testing.M) { os.Exit(Main(m)) }

// newApp answers every request with its path.
func newApp(t *testing.T) *httptest.Server {
	t.Helper()
	app := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.URL.Path)
	}))
	t.Cleanup(app.Close)
	return app
}

func TestProxiesRunInFrontOfAnApp(t *testing.T) {
	t.Parallel()
	const spec = "rules: [{name: all, limits: [{name: hour, requests: 3, window: 1h}]}]"
	tests := map[string]struct {
		start func(t *testing.T, app *httptest.Server) *Proxy
		want  []int
	}{
		"sidecar": {
			func(t *testing.T, app *httptest.Server) *Proxy {
				return StartSidecar(t, app.Listener.Addr().String(), nil)
			},
			[]int{200, 200, 200, 200},
		},
		"penstock run": {
			func(t *testing.T, app *httptest.Server) *Proxy { return StartPenstock(t, app.URL, spec) },
			[]int{200, 200, 200, 429},
		},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxy := tc.start(t, newApp(t))
			before := proxy.Idle()
			var got []int
			for range tc.want {
				got = append(got, get(t, proxy.URL()+"/x"))
			}
			if diff := cmp.Diff(tc.want, got); diff != "" {
				t.Errorf("statuses (-want +got):\n%s", diff)
			}
			if counted := proxy.Metric("penstock_request_seconds_count"); counted != float64(len(got)) {
				t.Errorf("the proxy counted %v requests, want %d", counted, len(got))
			}
			proxy.WantIdle(before)
			proxy.Stop()
			if strings.Contains(proxy.Output(), "panic") {
				t.Errorf("it panicked:\n%s", proxy.Output())
			}
		})
	}
}

func get(t *testing.T, url string) int {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = answer.Body.Close() }()
	return answer.StatusCode
}

func TestSumOfMetric(t *testing.T) {
	t.Parallel()
	const metrics = "# HELP a_total Help.\na_total{x=\"1\",y=\"1\"} 2\na_total{x=\"2\",y=\"1\"} 3\na_total_more 7\nb 4\n"
	tests := map[string]struct {
		name   string
		labels []string
		want   float64
	}{
		"all series":    {"a_total", nil, 5},
		"one label":     {"a_total", []string{"x=\"2\""}, 3},
		"both labels":   {"a_total", []string{"x=\"1\"", "y=\"1\""}, 2},
		"without label": {"b", nil, 4},
		"unknown":       {"c", nil, 0},
	}
	for name, tc := range tests {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, err := sumOf(metrics, tc.name, tc.labels)
			if err != nil || got != tc.want {
				t.Errorf("sumOf() = %v, %v, want %v", got, err, tc.want)
			}
		})
	}
}
