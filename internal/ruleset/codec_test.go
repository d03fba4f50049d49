// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package ruleset

import (
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func sample() *RuleSet {
	return &RuleSet{
		Format: Format, Namespace: "shop", IdentityKey: []byte("key"),
		Policies: []Policy{{
			Kind: "RateLimitPolicy", Name: "storefront", Generation: 3, Revision: "abc",
			Selectors: []Selector{{
				MatchLabels:      map[string]string{"app": "web"},
				MatchExpressions: []Requirement{{Key: "tier", Operator: "NotIn", Values: []string{"batch"}}},
			}},
			ClientIP: ClientIP{IPv6PrefixLength: 64}, PathMatching: PathLoose,
			Rules: []Rule{{
				Name:    "login",
				Matches: []Match{{Path: &PathMatch{Type: PathExact, Value: "/login"}, Methods: []string{"POST"}}},
				Key:     []KeyPart{{Name: "client", From: []KeySource{{Kind: SourceHeader, Name: "x-api-key"}, {Kind: SourceClientIP}}, OnMissing: MissingShare}},
				Limits:  []Limit{{Name: "burst", Algorithm: TokenBucket, Requests: 1 << 31, WindowMicros: 1_000_000, Burst: 20, Key: "abcdefgh"}},
				Cost: &Cost{
					Request:  RequestCost{Source: CostQueryParam, Name: "items", Max: 20},
					Response: &ResponseCost{Header: "x-cost", Max: 100}, CountOn: []int{401},
				},
				Shadow: true, Leased: true,
				OnStoreFailure: FailLocal, LoosenessMilli: 1500,
			}},
			Response: Response{Headers: []HeaderFamily{HeadersRateLimit}, OmitOnAllowed: true},
		}},
	}
}

func TestDecodeReadsWhatEncodeWrote(t *testing.T) {
	t.Parallel()
	want := sample()
	body, revision, err := Encode(want)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(body)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("decoded (-want +got):\n%s", diff)
	}
	if len(revision) != 12 {
		t.Errorf("revision %q has not 12 digits", revision)
	}
}

func TestRevisionIsOfTheContent(t *testing.T) {
	t.Parallel()
	_, first, err := Encode(sample())
	if err != nil {
		t.Fatal(err)
	}
	_, same, err := Encode(sample())
	if err != nil {
		t.Fatal(err)
	}
	changed := sample()
	changed.Policies[0].Rules[0].Limits[0].Requests--
	_, other, err := Encode(changed)
	if err != nil {
		t.Fatal(err)
	}
	if first != same || first == other {
		t.Errorf("revisions are %s, %s for equal content and %s for other", first, same, other)
	}
}

func pack(t *testing.T, text string) []byte {
	t.Helper()
	var packed bytes.Buffer
	writer := gzip.NewWriter(&packed)
	if _, err := writer.Write([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if err := writer.Close(); err != nil {
		t.Fatal(err)
	}
	return packed.Bytes()
}

func TestDecodeRefuses(t *testing.T) {
	t.Parallel()
	whole := pack(t, `{"format":1,"namespace":"shop","policies":[]}`)
	cases := map[string]struct {
		body []byte
		want error // nil: any
	}{
		"nothing":                                 {body: nil},
		"what is not gzip":                        {body: []byte(`{"format":1}`)},
		"a body cut short":                        {body: whole[:len(whole)-5]},
		"what is not JSON":                        {body: pack(t, "rules")},
		"a newer format":                          {body: pack(t, `{"format":2}`), want: ErrUnsupportedFormat},
		"a newer format of a shape":               {body: pack(t, `{"format":2,"policies":"moved elsewhere"}`), want: ErrUnsupportedFormat},
		"no format":                               {body: pack(t, `{"namespace":"shop"}`), want: ErrUnsupportedFormat},
		"a field of another type":                 {body: pack(t, `{"format":1,"policies":"none"}`)},
		"a small body that unpacks to a huge one": {body: pack(t, strings.Repeat(" ", maxDecodedBytes+1)), want: ErrTooLarge},
	}
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := Decode(tc.body)
			if err == nil || tc.want != nil && !errors.Is(err, tc.want) {
				t.Errorf("error is %v, want one that wraps %v", err, tc.want)
			}
		})
	}
}

func TestEncodeRefusesWhatDoesNotFit(t *testing.T) {
	t.Parallel()
	noise := make([]byte, 2*MaxEncodedBytes)
	if _, err := rand.Read(noise); err != nil {
		t.Fatal(err)
	}
	rs := sample()
	rs.Policies[0].Name = base64.StdEncoding.EncodeToString(noise)
	_, _, err := Encode(rs)
	if !errors.Is(err, ErrTooLarge) || !strings.Contains(err.Error(), `"shop"`) {
		t.Errorf("error is %v, want ErrTooLarge that names the namespace", err)
	}
}

func FuzzDecode(f *testing.F) {
	body, _, err := Encode(sample())
	if err != nil {
		f.Fatal(err)
	}
	f.Add(body)
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, body []byte) {
		rs, err := Decode(body)
		if (rs == nil) == (err == nil) {
			t.Errorf("Decode returned %v and %v, want one of them", rs, err)
		}
	})
}
