// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// ErrBadPath says that a path has a malformed escape or a NUL, or so odd a
// spelling that it cannot be told which rules the app's reading of it meets.
var ErrBadPath = errors.New("malformed path")

// maxOddPathBytes is how long a path may be that is not its own only reading:
// reading one takes time in proportion, a dozen times over.
const maxOddPathBytes = 16 << 10

// fewReadings is how many readings are kept without allocating: nearly every path
// has one.
const fewReadings = 4

// readings are the ways in which an app may understand a path, each in canonical
// form (some with dot segments) and each once.
type readings struct {
	few   [fewReadings]string
	count int
	// many are all readings where they are more than few.
	many []string
	// canonical says that the path was sent as its only reading.
	canonical bool
}

func (r *readings) all() []string {
	if r.many != nil {
		return r.many
	}
	return r.few[:r.count]
}

func (r *readings) add(path string) {
	if slices.Contains(r.all(), path) {
		return
	}
	if r.count < fewReadings {
		r.few[r.count] = path
	} else {
		r.many = append(slices.Clone(r.all()), path)
	}
	r.count++
}

// readPath takes the readings of a path as sent, without its query. It gives an error
// that wraps ErrBadPath for a malformed escape and for NUL, and then has no reading.
func (r *readings) readPath(path string, matching ruleset.PathMatching) error {
	loose := matching != ruleset.PathStrict
	if isPlain(path, loose) {
		r.few[0], r.count, r.canonical = path, 1, true
		return nil
	}
	if err := checkEscapes(path); err != nil {
		return err
	}
	if len(path) > maxOddPathBytes {
		return fmt.Errorf("%w: %d bytes with escapes, dot segments or the like, at most %d are read", ErrBadPath, len(path), maxOddPathBytes)
	}
	r.addReadings(path, loose)
	if rest, hasHost := withoutHost(path); hasHost {
		r.addReadings(rest, loose)
	}
	r.canonical = r.count == 1 && r.few[0] == path
	return nil
}

// addReadings adds what apps may make of a path. They decode escaped separators
// or keep them, they resolve dot segments or, as routers of many frameworks, do
// not, and something before may have resolved them already: a URL parser, to which
// empty segments and path parameters are segments too, or a file server, to which
// a backslash may be a letter.
func (r *readings) addReadings(path string, loose bool) {
	r.addDecoded(path, loose)
	decoded := decode(path, slashes{escaped: true, back: true})
	if !strings.Contains(decoded, "/.") {
		return
	}
	for _, before := range []string{
		path, decode(path, slashes{back: true}), decoded, decode(path, slashes{escaped: true}),
	} {
		r.addDecoded(resolveDots(before), loose)
		r.addDecoded(resolveDots(collapse(before)), loose)
	}
}

func (r *readings) addDecoded(path string, loose bool) {
	decoded, kept := normalise(path, true, loose), normalise(path, false, loose)
	r.add(finish(resolveDots(decoded), loose))
	r.add(finish(decoded, loose))
	r.add(finish(resolveDots(kept), loose))
	r.add(finish(kept, loose))
}

// withoutHost returns the path of a target that begins with two slashes, to those
// who read it as a reference: "//host/path", in which more slashes and backslashes
// may precede the host.
func withoutHost(path string) (rest string, hasHost bool) {
	const separators = `/\`
	host := strings.TrimLeft(path, separators)
	if len(path)-len(host) < 2 {
		return "", false
	}
	end := strings.IndexAny(host, separators)
	if end < 0 {
		return "/", true
	}
	return host[end:], true
}

// isPlain reports whether a path is its own and only reading. It is the fast
// way for nearly every request, and must never be true for any other path.
func isPlain(path string, loose bool) bool {
	if path == "" || path[0] != '/' {
		return false
	}
	for i := range len(path) {
		switch c := path[i]; {
		case c == '/':
			if i+1 < len(path) && (path[i+1] == '/' || path[i+1] == '.') {
				return false
			}
		case 'A' <= c && c <= 'Z':
			if loose {
				return false
			}
		case c == ';' || !isPathByte(c):
			return false
		}
	}
	return !loose || len(path) == 1 || path[len(path)-1] != '/'
}

// checkEscapes finds what has no reading at all.
func checkEscapes(path string) error {
	for i := 0; i < len(path); i++ {
		switch path[i] {
		case 0:
			return fmt.Errorf("%w: NUL at byte %d", ErrBadPath, i)
		case '%':
			if i+2 >= len(path) || !isHex(path[i+1]) || !isHex(path[i+2]) {
				return fmt.Errorf("%w: escape at byte %d is not %% and two hex digits", ErrBadPath, i)
			}
			if path[i+1] == '0' && path[i+2] == '0' {
				return fmt.Errorf("%w: NUL at byte %d", ErrBadPath, i)
			}
			i += 2
		}
	}
	return nil
}

// readTarget takes the readings of the path in a request target.
func (r *readings) readTarget(target string, matching ruleset.PathMatching) error {
	origin, ok := OriginForm(target)
	if !ok {
		return fmt.Errorf("%w: the target has neither origin form nor absolute form", ErrBadPath)
	}
	path, _, _ := strings.Cut(origin, "?")
	return r.readPath(path, matching)
}
