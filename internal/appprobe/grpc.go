// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package appprobe

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
)

// The health service of gRPC (grpc.health.v1), of which the two messages are so small
// that they are written here: linking gRPC would double the size of what runs in every
// pod.
const (
	healthMethod  = "/grpc.health.v1.Health/Check"
	serviceField  = 1<<3 | 2 // field 1, length-delimited
	statusField   = 1 << 3   // field 1, varint
	statusServing = 1
	// frameHead is a flag for compression and the message's length.
	frameHead = 5
	// maxMessageBytes bounds the answer; a status takes two.
	maxMessageBytes = 1 << 10
)

// healthStates are the names of grpc.health.v1.HealthCheckResponse.ServingStatus.
var healthStates = []string{"UNKNOWN", "SERVING", "NOT_SERVING", "SERVICE_UNKNOWN"}

func newGRPCTransport() *http.Transport {
	transport := &http.Transport{
		Protocols: new(http.Protocols), DisableKeepAlives: true, DisableCompression: true,
		MaxResponseHeaderBytes: 64 << 10,
	}
	transport.Protocols.SetUnencryptedHTTP2(true)
	return transport
}

// askGRPC wants SERVING.
func (p *Prober) askGRPC(ctx context.Context, probe *GRPC) error {
	url := "http://" + p.address(probe.Port) + healthMethod
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(healthQuestion(probe.Service)))
	if err != nil {
		return fmt.Errorf("make the request: %w", err)
	}
	request.Header = http.Header{"Content-Type": {"application/grpc"}, "Te": {"trailers"}, "User-Agent": {userAgent}}
	answer, err := p.grpc.RoundTrip(request)
	if err != nil {
		return fmt.Errorf("ask the app: %w", err)
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("the app answers with HTTP status %d and speaks no gRPC here", answer.StatusCode)
	}
	message, err := io.ReadAll(io.LimitReader(answer.Body, maxMessageBytes))
	if err != nil {
		return fmt.Errorf("read the app's answer: %w", err)
	}
	// The trailer is known once the body was read; of an error it may be the header.
	code := answer.Trailer.Get("Grpc-Status")
	if code == "" {
		code = answer.Header.Get("Grpc-Status")
	}
	switch code {
	case "0":
		return healthVerdict(message)
	case "12":
		return errors.New("the app has no service grpc.health.v1.Health (gRPC status 12)")
	case "5":
		return fmt.Errorf("the app's health service knows no service %q (gRPC status 5)", probe.Service)
	default:
		return fmt.Errorf("the app's health service fails with gRPC status %q", code)
	}
}

// healthQuestion is a frame with a HealthCheckRequest.
func healthQuestion(service string) []byte {
	var message []byte
	if service != "" {
		message = append(binary.AppendUvarint([]byte{serviceField}, uint64(len(service))), service...)
	}
	frame := binary.BigEndian.AppendUint32([]byte{0}, uint32(len(message)))
	return slices.Concat(frame, message)
}

// healthVerdict reads a frame with a HealthCheckResponse.
func healthVerdict(frame []byte) error {
	const unreadable = "the app's health service answers with what is no HealthCheckResponse"
	if len(frame) < frameHead || frame[0] != 0 || int(binary.BigEndian.Uint32(frame[1:frameHead])) != len(frame)-frameHead {
		return errors.New(unreadable)
	}
	status := uint64(0)
	for message := frame[frameHead:]; len(message) > 0; {
		tag, size := binary.Uvarint(message)
		if size <= 0 {
			return errors.New(unreadable)
		}
		message = message[size:]
		number, size := binary.Uvarint(message)
		// Only fields that hold a number are known; the message has no others.
		if tag&7 != 0 || size <= 0 {
			return errors.New(unreadable)
		}
		message = message[size:]
		if tag == statusField {
			status = number
		}
	}
	if status == statusServing {
		return nil
	}
	name := strconv.FormatUint(status, 10)
	if status < uint64(len(healthStates)) {
		name = healthStates[status]
	}
	return fmt.Errorf("the app's health service says %s", name)
}
