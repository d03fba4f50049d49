// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"errors"
	"io"
	"net/http"
)

// statusClientGone is what is recorded for a client that left before its answer.
const statusClientGone = 499

// answerForwardFailure answers for an app that did not, and says why it did not; empty if
// that is not the app's fault. The answer says who failed, because the first suspect is
// always the proxy.
func answerForwardFailure(w http.ResponseWriter, request *http.Request, err error) appFailure {
	if request.Context().Err() != nil {
		w.WriteHeader(statusClientGone)
		return ""
	}
	if inbound := (*inboundBodyError)(nil); errors.As(err, &inbound) {
		writeAnswer(w, problemAnswer(problem{
			Title: "Request body incomplete", Status: http.StatusBadRequest,
			Detail: "The body of the request ended early or was malformed.",
		}))
		return ""
	}
	failure := appFailureOf(err)
	told := problem{
		Title: "Application did not answer", Status: failure.status(),
		Detail: "The application behind Penstock refused the connection or closed it without a valid answer. Penstock itself works; look at the application.",
	}
	if told.Status == http.StatusGatewayTimeout {
		told.Title = "Application did not answer in time"
		told.Detail = "The application behind Penstock did not answer in time. Penstock itself works; look at the application."
	}
	writeAnswer(w, problemAnswer(told))
	return failure
}

// inboundBody marks the errors of reading the client's body, so that the app is
// not blamed for them, and keeps from the trailer what must not be in it.
type inboundBody struct {
	io.ReadCloser
	trailer trailerRule
	ended   bool
}

// Read reads nothing after the end. The transport asks once more then, to see whether
// there is too much, and an app that answers at once has its answer begun by that
// time, with which the server closes the body: the error of that would end the
// connection to the app, and cut off the answer.
func (b *inboundBody) Read(p []byte) (int, error) {
	if b.ended {
		return 0, io.EOF
	}
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		b.ended = true
		b.trailer.apply()
		return n, io.EOF
	}
	if err != nil {
		err = &inboundBodyError{err: err}
	}
	return n, err
}

type inboundBodyError struct{ err error }

func (e *inboundBodyError) Error() string { return "read request body: " + e.err.Error() }
func (e *inboundBodyError) Unwrap() error { return e.err }
