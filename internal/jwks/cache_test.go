// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package jwks

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/google/go-cmp/cmp"
	"go.uber.org/goleak"

	"github.com/penstock-dev/penstock/internal/match/token"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// newKeys is the text of a key set with one key.
func newKeys(t *testing.T, name string) string {
	t.Helper()
	pair, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(jose.JSONWebKeySet{Keys: []jose.JSONWebKey{{Key: pair.Public(), KeyID: name}}})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// issuer is an identity provider whose answer can be changed.
type issuer struct {
	*httptest.Server
	asked  atomic.Int64
	answer atomic.Pointer[http.HandlerFunc]
}

func startIssuer(t *testing.T, answer http.HandlerFunc) *issuer {
	t.Helper()
	i := &issuer{}
	i.answer.Store(&answer)
	i.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		i.asked.Add(1)
		(*i.answer.Load())(w, r)
	}))
	t.Cleanup(i.Close)
	return i
}

func (i *issuer) client() *http.Client {
	roots := x509.NewCertPool()
	roots.AddCert(i.Certificate())
	return NewClient(roots)
}

func with(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte(text)) }
}

func (i *issuer) answerWith(text string) {
	handler := with(text)
	i.answer.Store(&handler)
}

// start runs a cache until the test ends. Each fetch is told on the channel.
func start(t *testing.T, options Options, urls ...string) (*Cache, chan error) {
	t.Helper()
	fetches := make(chan error, 1000)
	options.Report = func(_ token.KeyAddress, err error) { fetches <- err }
	c := New(options)
	c.Follow(addressesOf(urls...))
	var group sync.WaitGroup
	group.Go(func() { c.Run(t.Context()) })
	t.Cleanup(group.Wait)
	return c, fetches
}

// addressesOf are addresses that nobody is known to name.
func addressesOf(urls ...string) []token.KeyAddress {
	var addresses []token.KeyAddress
	for _, url := range urls {
		addresses = append(addresses, token.KeyAddress{URL: url})
	}
	return addresses
}

func await(t *testing.T, fetches chan error) error {
	t.Helper()
	select {
	case err := <-fetches:
		return err
	case <-time.After(20 * time.Second):
		t.Fatal("no fetch ended within 20 s")
		return nil
	}
}

func TestKeysRotate(t *testing.T) {
	t.Parallel()
	server := startIssuer(t, with(newKeys(t, "old")))
	c, fetches := start(t, Options{Client: server.client(), Renewal: time.Millisecond}, server.URL)
	if err := await(t, fetches); err != nil {
		t.Fatal(err)
	}
	old := c.Keys(server.URL)
	c.Renew(server.URL)
	if err := await(t, fetches); err != nil || c.Keys(server.URL) != old || old == nil {
		t.Errorf("the same text again: error %v, is the same set %v", err, c.Keys(server.URL) == old)
	}
	server.answerWith(newKeys(t, "new"))
	c.Renew(server.URL)
	if err := await(t, fetches); err != nil || c.Keys(server.URL) == old {
		t.Errorf("after rotation: error %v, is the same set %v", err, c.Keys(server.URL) == old)
	}
}

// TestUnknownKeysCauseOneFetch has many requests ask at once, and then again while
// it is too soon.
func TestUnknownKeysCauseOneFetch(t *testing.T) {
	t.Parallel()
	server := startIssuer(t, with(newKeys(t, "a")))
	c, fetches := start(t, Options{Client: server.client(), Renewal: 500 * time.Millisecond}, server.URL)
	await(t, fetches) //nolint:errcheck // Only that it ended matters.
	var group sync.WaitGroup
	began := time.Now()
	for range 100 {
		group.Go(func() { c.Renew(server.URL) })
	}
	group.Wait()
	if took := time.Since(began); took > 250*time.Millisecond {
		t.Errorf("to ask took %v: it must not wait", took)
	}
	await(t, fetches) //nolint:errcheck // As above.
	if asked := server.asked.Load(); asked != 2 {
		t.Errorf("the issuer was asked %d times, want 2", asked)
	}
}

// TestKeysStayWhileTheIssuerFails gives each bad answer after a good one.
func TestKeysStayWhileTheIssuerFails(t *testing.T) {
	t.Parallel()
	elsewhere := startIssuer(t, with(newKeys(t, "evil")))
	for name, tc := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"status 500": {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusInternalServerError) }, "status 500"},
		"no keys":    {with(`{"keys":[]}`), "no public key"},
		"a page":     {with("<html>secret words</html>"), "no JSON Web Key Set"},
		"10 MiB":     {with(strings.Repeat(" ", 10<<20)), "more than 262144 bytes"},
		"redirect":   {func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, elsewhere.URL, http.StatusFound) }, "redirect"},
		"redirect to HTTP": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://127.0.0.1:1/", http.StatusFound)
		}, "redirect"},
		"cut off": {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, "EOF"},
		"hangs": {func(_ http.ResponseWriter, r *http.Request) {
			<-r.Context().Done() // until the client gives up
			panic(http.ErrAbortHandler)
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := startIssuer(t, with(newKeys(t, "a")))
			c, fetches := start(t, Options{Client: server.client(), Renewal: time.Millisecond}, server.URL)
			if err := await(t, fetches); err != nil {
				t.Fatal(err)
			}
			set := c.Keys(server.URL)
			server.answer.Store(&tc.answer)
			c.Renew(server.URL)
			err := await(t, fetches)
			if err == nil || !strings.Contains(err.Error(), tc.want) || strings.Contains(err.Error(), "secret") || strings.Contains(err.Error(), server.URL) {
				t.Errorf("error %v, want one with %q and nothing that was sent", err, tc.want)
			}
			if c.Keys(server.URL) != set || c.Failed() != 1 {
				t.Errorf("the keys stay: %v, %d fetches failed", c.Keys(server.URL) == set, c.Failed())
			}
		})
	}
	if asked := elsewhere.asked.Load(); asked != 0 {
		t.Errorf("a redirect was followed %d times", asked)
	}
}

func TestKeysEnd(t *testing.T) {
	t.Parallel()
	server := startIssuer(t, with(newKeys(t, "a")))
	c, fetches := start(t, Options{Client: server.client(), Renewal: time.Millisecond, Retry: time.Millisecond, Keep: time.Nanosecond}, server.URL)
	if err := await(t, fetches); err != nil || c.Keys(server.URL) == nil {
		t.Fatalf("error %v, keys %v", err, c.Keys(server.URL))
	}
	server.answerWith("")
	c.Renew(server.URL)
	if err := await(t, fetches); err == nil || c.Keys(server.URL) != nil {
		t.Errorf("error %v; keys older than the longest time are believed: %v", err, c.Keys(server.URL) != nil)
	}
	server.answerWith(newKeys(t, "b"))
	for range 10 {
		if await(t, fetches) == nil {
			break
		}
	}
	if c.Keys(server.URL) == nil {
		t.Error("no keys although the issuer answers again")
	}
}

func TestKeysOfNobodyAreForgotten(t *testing.T) {
	t.Parallel()
	server := startIssuer(t, with(newKeys(t, "a")))
	c, fetches := start(t, Options{Client: server.client()}, server.URL+"/one", server.URL+"/two")
	for range 2 {
		if err := await(t, fetches); err != nil {
			t.Fatal(err)
		}
	}
	two := c.Keys(server.URL + "/two")
	c.Follow(addressesOf(server.URL+"/two", server.URL+"/three"))
	if err := await(t, fetches); err != nil {
		t.Fatal(err)
	}
	c.Renew(server.URL + "/one")
	if c.Keys(server.URL+"/one") != nil || c.Keys(server.URL+"/two") != two || c.Keys(server.URL+"/three") == nil {
		t.Error("want one to be forgotten, two to stay as it was and three to be there")
	}
}

// TestFetchesTellWhoNamesTheAddress has another policy name the same address later.
func TestFetchesTellWhoNamesTheAddress(t *testing.T) {
	t.Parallel()
	server := startIssuer(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNotFound) })
	told := make(chan token.KeyAddress, 1000)
	c := New(Options{Client: server.client(), Retry: time.Millisecond, Report: func(address token.KeyAddress, _ error) { told <- address }})
	address := func(policy string) token.KeyAddress {
		return token.KeyAddress{URL: server.URL, NamedBy: []token.Naming{{Policy: policy, Provider: "idp", Issuer: "https://id"}}}
	}
	c.Follow([]token.KeyAddress{address("web")})
	var group sync.WaitGroup
	group.Go(func() { c.Run(t.Context()) })
	t.Cleanup(group.Wait)
	if diff := cmp.Diff(address("web"), <-told); diff != "" {
		t.Errorf("address (-want +got):\n%s", diff)
	}
	c.Follow([]token.KeyAddress{address("api")})
	for {
		select {
		case got := <-told:
			if cmp.Equal(address("api"), got) {
				return
			}
		case <-time.After(20 * time.Second):
			t.Fatal("nobody was told of the other policy within 20 s")
		}
	}
}

// TestURLsBeyondTheMostAreReported has them told once for each list of them.
func TestURLsBeyondTheMostAreReported(t *testing.T) {
	t.Parallel()
	var told [][]string
	c := New(Options{ReportIgnored: func(addresses []token.KeyAddress) {
		var urls []string
		for _, address := range addresses {
			urls = append(urls, address.URL)
		}
		told = append(told, urls)
	}})
	urls := make([]string, MostURLs+2)
	for i := range urls {
		urls[i] = fmt.Sprintf("https://issuer-%03d.example/jwks", i)
	}
	for _, list := range [][]string{urls[:MostURLs], urls, urls, urls[:MostURLs+1], urls[:1], urls} {
		c.Follow(addressesOf(list...))
		if got, want := c.Ignored(), int64(max(0, len(list)-MostURLs)); got != want {
			t.Errorf("of %d URLs %d are ignored, want %d", len(list), got, want)
		}
	}
	want := [][]string{urls[MostURLs:], urls[MostURLs : MostURLs+1], urls[MostURLs:]}
	if diff := cmp.Diff(want, told); diff != "" {
		t.Errorf("told (-want +got):\n%s", diff)
	}
}

func TestOnlyTLSIsSpoken(t *testing.T) {
	t.Parallel()
	plain := httptest.NewServer(with(newKeys(t, "a")))
	t.Cleanup(plain.Close)
	stranger := startIssuer(t, with(newKeys(t, "a")))
	for name, url := range map[string]string{"without TLS": plain.URL, "unknown certificate": stranger.URL, "no URL": "https://a b"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if text, err := fetch(t.Context(), NewClient(x509.NewCertPool()), url); err == nil {
				t.Errorf("fetched %q", text)
			}
		})
	}
}

func TestFetchesSpreadOut(t *testing.T) {
	t.Parallel()
	c := New(Options{})
	for failures, want := range map[int]time.Duration{0: DefaultRefresh, 1: DefaultRetry, 3: 4 * DefaultRetry, 100: DefaultRefresh} {
		if got := c.wait(failures); got < want*9/10 || got > want*11/10+1 {
			t.Errorf("after %d failures it waits %v, want about %v", failures, got, want)
		}
	}
}
