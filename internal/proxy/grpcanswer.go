// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/penstock-dev/penstock/internal/limiter"
)

// Status codes of gRPC.
const (
	grpcResourceExhausted = 8
	grpcUnavailable       = 14
)

// noPushback tells a gRPC client not to try again by itself.
const noPushback = -1

// isGRPC reports whether a request is a gRPC call.
func isGRPC(header http.Header) bool {
	subtype, found := strings.CutPrefix(header.Get("Content-Type"), "application/grpc")
	return found && (subtype == "" || subtype[0] == '+' || subtype[0] == ';')
}

// retryPushback is after how many milliseconds a refused call may come again.
func retryPushback(decision *limiter.Decision) int64 {
	if decision.Never {
		return noPushback
	}
	return int64((decision.RetryAfter + time.Millisecond - 1) / time.Millisecond)
}

// grpcAnswer is an answer without messages, whose trailers are in the header
// ("Trailers-Only" in the gRPC protocol).
func grpcAnswer(code int, message string, pushback int64) answer {
	return answer{status: http.StatusOK, header: http.Header{
		"Content-Type":           {"application/grpc"},
		"Grpc-Status":            {strconv.Itoa(code)},
		"Grpc-Message":           {percentEncode(message)},
		"Grpc-Retry-Pushback-Ms": {strconv.FormatInt(pushback, 10)},
	}}
}

// percentEncode encodes what a gRPC message cannot hold as it is.
func percentEncode(message string) string {
	const upperHex = "0123456789ABCDEF"
	var out strings.Builder
	for i := range len(message) {
		c := message[i]
		if c >= ' ' && c <= '~' && c != '%' {
			out.WriteByte(c)
			continue
		}
		out.WriteByte('%')
		out.WriteByte(upperHex[c>>4])
		out.WriteByte(upperHex[c&15])
	}
	return out.String()
}
