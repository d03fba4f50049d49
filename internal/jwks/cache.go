// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package jwks

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/penstock-dev/penstock/internal/match/token"
)

const (
	// DefaultRefresh is how often keys are fetched anew, give or take a tenth.
	DefaultRefresh = 5 * time.Minute
	// DefaultRenewal is how soon after a fetch a token with an unknown key may cause
	// the next: clients can send such tokens as often as they like.
	DefaultRenewal = 30 * time.Second
	// DefaultRetry is the wait after the first failed fetch; each further one doubles
	// it, up to Refresh.
	DefaultRetry = 2 * time.Second
	// DefaultKeep is how long keys are believed after the last fetch that succeeded.
	DefaultKeep = 24 * time.Hour
	// MostURLs is how many issuers' keys one process fetches.
	MostURLs = 64
)

// Options are settings of a cache; the zero value has the defaults.
type Options struct {
	// Client fetches; nil is NewClient(nil).
	Client *http.Client
	// Refresh, Renewal, Retry and Keep are as the constants say; 0 is the default.
	Refresh, Renewal, Retry, Keep time.Duration
	// Report is told of each fetch: an error, or nil. It may be called at any time and
	// must not block; nil tells nobody.
	Report func(address token.KeyAddress, err error)
	// ReportIgnored is told of the addresses that are not followed, whenever their URLs
	// are others than before. It may be called at any time and must not block; nil tells
	// nobody.
	ReportIgnored func(addresses []token.KeyAddress)
}

// Cache holds key sets by URL.
type Cache struct {
	options Options
	// changed says that the URLs are others than before.
	changed chan struct{}
	failed  atomic.Int64

	mu   sync.RWMutex
	sets map[string]*keySet
	// ignored are the URLs that are not followed.
	ignored []string
}

// New makes a cache that is empty. It fetches nothing until Run.
func New(options Options) *Cache {
	if options.Client == nil {
		options.Client = NewClient(nil)
	}
	orDefault := func(value *time.Duration, standard time.Duration) {
		if *value <= 0 {
			*value = standard
		}
	}
	orDefault(&options.Refresh, DefaultRefresh)
	orDefault(&options.Renewal, DefaultRenewal)
	orDefault(&options.Retry, DefaultRetry)
	orDefault(&options.Keep, DefaultKeep)
	if options.Report == nil {
		options.Report = func(token.KeyAddress, error) {}
	}
	if options.ReportIgnored == nil {
		options.ReportIgnored = func([]token.KeyAddress) {}
	}
	return &Cache{options: options, changed: make(chan struct{}, 1), sets: make(map[string]*keySet)}
}

// Follow has these addresses be fetched from now on, and no others: what was known of
// others is forgotten. No URL is there twice, and they must not be changed. Of more than MostURLs the first are
// followed, and Options.ReportIgnored is told of the others.
func (c *Cache) Follow(addresses []token.KeyAddress) {
	followed, ignored := addresses[:min(len(addresses), MostURLs)], addresses[min(len(addresses), MostURLs):]
	if c.replace(followed, ignored) && len(ignored) > 0 {
		c.options.ReportIgnored(ignored)
	}
	select {
	case c.changed <- struct{}{}:
	default:
	}
}

// replace reports whether others are ignored than before.
func (c *Cache) replace(followed, ignored []token.KeyAddress) (others bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	sets := make(map[string]*keySet, len(followed))
	for i := range followed {
		url := followed[i].URL
		if sets[url] = c.sets[url]; sets[url] == nil {
			sets[url] = newKeySet(url)
		}
		// Others may name it now.
		sets[url].address.Store(&followed[i])
	}
	urls := make([]string, len(ignored))
	for i := range ignored {
		urls[i] = ignored[i].URL
	}
	others = !slices.Equal(urls, c.ignored)
	c.sets, c.ignored = sets, urls
	return others
}

// Ignored is how many URLs are not followed, since there are more than MostURLs.
func (c *Cache) Ignored() int64 {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return int64(len(c.ignored))
}

// Keys returns the key set of a URL that is followed. It is nil before the first
// fetch has succeeded, and when none has for as long as Keep.
func (c *Cache) Keys(url string) *token.KeySet {
	if set := c.set(url); set != nil {
		return set.current.Load()
	}
	return nil
}

// Renew has the keys of a URL be fetched soon, but not sooner after the last fetch
// than Renewal.
func (c *Cache) Renew(url string) {
	if set := c.set(url); set != nil {
		set.renew()
	}
}

// Failed is how many fetches failed so far.
func (c *Cache) Failed() int64 { return c.failed.Load() }

func (c *Cache) set(url string) *keySet {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.sets[url]
}

// Run fetches until the context ends, and returns when the last fetch has.
func (c *Cache) Run(ctx context.Context) {
	running := make(map[*keySet]context.CancelFunc)
	var group sync.WaitGroup
	defer group.Wait()
	for {
		wanted := c.followed()
		for set, stop := range running {
			if !slices.Contains(wanted, set) {
				stop()
				delete(running, set)
			}
		}
		for _, set := range wanted {
			if running[set] == nil {
				following, stop := context.WithCancel(ctx)
				running[set] = stop
				group.Go(func() {
					defer stop()
					c.keepFresh(following, set)
				})
			}
		}
		select {
		case <-ctx.Done():
			return
		case <-c.changed:
		}
	}
}

func (c *Cache) followed() []*keySet {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return slices.Collect(maps.Values(c.sets))
}
