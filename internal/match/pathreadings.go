// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package match

import (
	"errors"
	"fmt"
	"strings"

	"github.com/penstock-dev/penstock/internal/ruleset"
)

// ErrBadPath says that a path has a malformed escape or a NUL, so that no two
// programs need read it alike.
var ErrBadPath = errors.New("malformed path")

// maxReadings is how many readings a path has at most: with escaped separators
// decoded, dot segments resolved after that or before; with escaped separators
// kept, dot segments resolved or left alone.
const maxReadings = 4

// readings are the ways in which an app may understand a path, each in canonical
// form and each once.
type readings struct {
	paths [maxReadings]string
	count int
}

func (r *readings) all() []string { return r.paths[:r.count] }

func (r *readings) add(path string) {
	for _, known := range r.all() {
		if known == path {
			return
		}
	}
	r.paths[r.count] = path
	r.count++
}

// readPath returns the readings of a path as sent, without its query. It gives
// an error that wraps ErrBadPath for a malformed escape and for NUL.
func readPath(path string, matching ruleset.PathMatching) (readings, error) {
	var result readings
	loose := matching != ruleset.PathStrict
	if isPlain(path, loose) {
		result.add(path)
		return result, nil
	}
	if err := checkEscapes(path); err != nil {
		return result, err
	}
	decoded, kept := normalise(path, true, loose), normalise(path, false, loose)
	result.add(finish(resolveDots(decoded), loose))
	result.add(finish(normalise(resolveDots(path), true, loose), loose))
	result.add(finish(resolveDots(kept), loose))
	// Routers of many frameworks resolve no dot segments at all: to them
	// /a/../b is below /a.
	result.add(finish(kept, loose))
	return result, nil
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

// readTarget returns the readings of the path in a request target.
func readTarget(target string, matching ruleset.PathMatching) (readings, error) {
	origin, ok := OriginForm(target)
	if !ok {
		return readings{}, fmt.Errorf("%w: the target has neither origin form nor absolute form", ErrBadPath)
	}
	path, _, _ := strings.Cut(origin, "?")
	return readPath(path, matching)
}
