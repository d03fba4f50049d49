// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// closedAfterEnd is a body that the server has closed once it was read.
type closedAfterEnd struct{ strings.Reader }

func (c *closedAfterEnd) Read(p []byte) (int, error) {
	if c.Len() == 0 {
		return 0, http.ErrBodyReadAfterClose
	}
	n, err := c.Reader.Read(p)
	if c.Len() == 0 {
		err = io.EOF
	}
	return n, err
}

func (*closedAfterEnd) Close() error { return nil }

func TestInboundBodyIsNotReadAfterItsEnd(t *testing.T) {
	t.Parallel()
	body := &inboundBody{ReadCloser: &closedAfterEnd{*strings.NewReader("all of it")}}
	text, err := io.ReadAll(body)
	if string(text) != "all of it" || err != nil {
		t.Fatalf("read %q, %v", text, err)
	}
	if n, err := body.Read(make([]byte, 1)); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("reading on gives %d, %v, want 0 and EOF", n, err)
	}
}

func TestInboundBodyMarksItsErrors(t *testing.T) {
	t.Parallel()
	body := &inboundBody{ReadCloser: &closedAfterEnd{}}
	_, err := body.Read(make([]byte, 1))
	if _, marked := errors.AsType[*inboundBodyError](err); !marked {
		t.Errorf("error is %v, want it marked as the client's", err)
	}
}

// TestContinueIsLeftToTheServer holds the 100 of an app back: the server sends its
// own when the body is read.
func TestContinueIsLeftToTheServer(t *testing.T) {
	t.Parallel()
	recorder := httptest.NewRecorder()
	writer := &answerWriter{ResponseWriter: recorder, isClosing: func() bool { return false }}
	writer.WriteHeader(http.StatusContinue)
	if writer.wroteHeader || recorder.Code != http.StatusOK {
		t.Errorf("the answer has begun with %d", recorder.Code)
	}
	writer.WriteHeader(http.StatusAccepted)
	if recorder.Code != http.StatusAccepted {
		t.Errorf("status = %d, want 202", recorder.Code)
	}
}
