// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"crypto/tls"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strconv"
	"syscall"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// appFailure is why the app gave no answer: one of a few words, as what it sent instead
// may be anything.
type appFailure string

const (
	appRefused        appFailure = "refused"
	appDialTimeout    appFailure = "dialTimeout"
	appUnreachable    appFailure = "unreachable"
	appTimeout        appFailure = "timeout"
	appClosed         appFailure = "closed"
	appCertificate    appFailure = "certificate"
	appSwitched       appFailure = "switched"
	appAnswersInvalid appFailure = "invalid"
)

// appFailureOf says what an error of forwarding says of the app.
func appFailureOf(err error) appFailure {
	var timeout net.Error
	isTimeout := errors.As(err, &timeout) && timeout.Timeout()
	var operation *net.OpError
	isDial := errors.As(err, &operation) && operation.Op == "dial"
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return appRefused
	case isTimeout && isDial:
		return appDialTimeout
	case isTimeout:
		return appTimeout
	case isDial:
		return appUnreachable
	case errors.As(err, &certificate):
		return appCertificate
	case errors.Is(err, errSwitched):
		return appSwitched
	case isEndOfConnection(err):
		return appClosed
	default:
		return appAnswersInvalid
	}
}

// isEndOfConnection knows the ends of a connection of HTTP/1. Most of those of HTTP/2 have
// an error that cannot be told from others.
func isEndOfConnection(err error) bool {
	return slices.ContainsFunc([]error{io.EOF, io.ErrUnexpectedEOF, syscall.ECONNRESET, syscall.EPIPE, net.ErrClosed},
		func(end error) bool { return errors.Is(err, end) })
}

// status is what the client is answered.
func (f appFailure) status() int {
	if f == appDialTimeout || f == appTimeout {
		return http.StatusGatewayTimeout
	}
	return http.StatusBadGateway
}

// appFailureLogsPerSecond is how many are logged in a second: an app that is away fails
// every request in the same way.
const appFailureLogsPerSecond = 1

func newAppFailureLog(logger *slog.Logger) *sampledLog {
	return newSampledLog(logger, slog.LevelWarn, appFailureLogsPerSecond, time.Now)
}

func newAppFailures() *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "penstock_app_failures_total", Help: "Requests that were answered 502 or 504 here, as the app at this port could not be reached or did not answer.",
	}, []string{"port", "reason"})
}

// appFailed notes a request that was answered for an app that did not.
func (s *Server) appFailed(port int32, failure appFailure) {
	s.metrics.appFailures.WithLabelValues(strconv.Itoa(int(port)), string(failure)).Inc()
	if omitted, mayLog := s.appFailureLog.take(); mayLog {
		s.logger.Warn("The application did not answer, so its client was answered here: look at the application",
			append([]any{"port", port, "reason", string(failure), "status", failure.status()}, omitted...)...)
	}
}
