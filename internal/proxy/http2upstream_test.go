// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/net/http2"
)

// TestUploadsThatStallHoldUpNobody has a client send to a part of the app that does not
// read, as much as the app takes on one connection, and then another client send a body.
func TestUploadsThatStallHoldUpNobody(t *testing.T) {
	t.Parallel()
	reached := make(chan struct{}, 10)
	app := startH2CApp(t, func(w http.ResponseWriter, request *http.Request) {
		if request.URL.Path == "/stall" {
			reached <- struct{}{}
			<-request.Context().Done() // until the client has left
			return
		}
		_, _ = io.Copy(io.Discard, request.Body)
		okApp(w, request)
	})
	f := start(t, app, nil, nil)
	stalling := http2Client(t)
	for range 4 {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, f.url+"/stall", io.LimitReader(zeros{}, 1<<20))
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			if response, err := stalling.Do(request); err == nil {
				response.Body.Close()
			}
		}()
		<-reached
	}
	quick := http2Client(t)
	quick.Timeout = patience
	for range 3 {
		response, err := quick.Post(f.url+"/", "text/plain", io.LimitReader(zeros{}, 600<<10))
		if err != nil {
			t.Fatal(err)
		}
		response.Body.Close()
	}
}

// TestUploadsTakeLittleMemory has many bodies under way to an app that takes long frames:
// net/http has a buffer as long as these, up to 512 KiB, for each.
func TestUploadsTakeLittleMemory(t *testing.T) { //nolint:paralleltest // Others would be measured too.
	const streams, most = 100, 20 << 20
	reached := make(chan struct{}, streams)
	app := startH2CApp(t, func(_ http.ResponseWriter, request *http.Request) {
		if _, err := io.ReadFull(request.Body, make([]byte, 3)); err == nil {
			reached <- struct{}{}
		}
		<-request.Context().Done() // until the client has left
	})
	f := start(t, app, nil, nil)
	var before, during runtime.MemStats
	runtime.ReadMemStats(&before)
	c := f.dialFrames(t)
	for i := range uint32(streams) {
		block := c.encode(append([]string{":method", "POST"}, get()[2:]...)...)
		c.must(c.WriteHeaders(http2.HeadersFrameParam{StreamID: 2*i + 1, BlockFragment: block, EndHeaders: true}))
		c.must(c.WriteData(2*i+1, false, []byte("abc")))
	}
	for range streams {
		<-reached
	}
	runtime.ReadMemStats(&during)
	if more := int64(during.HeapAlloc) - int64(before.HeapAlloc); more > most {
		t.Errorf("%d bodies of 3 bytes take %d bytes, want at most %d", streams, more, most)
	}
}

// settingsConn is a connection whose other end has sent this text.
type settingsConn struct {
	net.Conn
	sent io.Reader
}

func (c settingsConn) Read(p []byte) (int, error) { return c.sent.Read(p) }

func TestFramesToTheAppStayShort(t *testing.T) {
	t.Parallel()
	var text bytes.Buffer
	framer := http2.NewFramer(&text, nil)
	settings := []http2.Setting{{ID: http2.SettingMaxConcurrentStreams, Val: 250}, {ID: http2.SettingMaxFrameSize, Val: 1 << 20}, {ID: http2.SettingInitialWindowSize, Val: 1 << 20}}
	for _, err := range []error{framer.WriteSettings(settings...), framer.WriteData(1, true, []byte{4: 5, 5: 0, 6: 5})} {
		if err != nil {
			t.Fatal(err)
		}
	}
	want := strings.Replace(text.String(), "\x00\x05\x00\x10\x00\x00", "\x00\x05\x00\x00\x40\x00", 1)
	for name, sent := range map[string]string{"settings first": text.String(), "none": text.String()[27:], "cut off": text.String()[:17], "nothing": ""} {
		wanted := sent
		if name == "settings first" {
			wanted = want
		}
		for pieces, reader := range map[string]io.Reader{"whole": strings.NewReader(sent), "in bytes": iotest.OneByteReader(strings.NewReader(sent)), "in halves": iotest.HalfReader(strings.NewReader(sent))} {
			got, err := io.ReadAll(&shortFrames{Conn: settingsConn{sent: reader}})
			if diff := cmp.Diff(wanted, string(got)); diff != "" || err != nil {
				t.Errorf("%s, %s: error %v (-want +got):\n%s", name, pieces, err, diff)
			}
		}
	}
}
