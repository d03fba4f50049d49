// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"net"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// recorder is an app that reads what it is sent as strictly as the standard allows, so
// that whatever two readers could take for different requests is an error, and
// answers each request with 200.
type recorder struct {
	listener net.Listener
	mu       sync.Mutex
	// whole are the requests that were complete, faults what was none.
	whole, faults []string
}

func startRecorder(t *testing.T) *recorder {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &recorder{listener: listener}
	var group sync.WaitGroup
	group.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			group.Go(func() { r.serve(conn) })
		}
	})
	t.Cleanup(func() { _ = listener.Close() })
	return r
}

func (r *recorder) address() string { return r.listener.Addr().String() }

// take returns what was recorded since the last call.
func (r *recorder) take() (whole, faults []string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	whole, faults, r.whole, r.faults = r.whole, r.faults, nil, nil
	return whole, faults
}

func (r *recorder) serve(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	reader := bufio.NewReader(conn)
	for {
		if _, err := reader.Peek(1); err != nil {
			return
		}
		request, err := readStrictly(reader)
		if errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF) {
			return // The request was given up.
		}
		r.mu.Lock()
		if err != nil {
			r.faults = append(r.faults, err.Error())
		} else {
			r.whole = append(r.whole, request)
		}
		r.mu.Unlock()
		if err != nil {
			return
		}
		if _, err := io.WriteString(conn, "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok"); err != nil {
			return
		}
	}
}

var (
	requestLine = regexp.MustCompile(`^([!#$%&'*+.^_|~0-9A-Za-z-]+) ([^\x00-\x20\x7f]+) HTTP/1\.1$`)
	fieldLine   = regexp.MustCompile(`^([!#$%&'*+.^_|~0-9A-Za-z-]+):[ \t]?([^\x00-\x08\x0a-\x1f\x7f]*)$`)
	decimal     = regexp.MustCompile(`^[0-9]{1,15}$`)
	hexadecimal = regexp.MustCompile(`^[0-9a-fA-F]{1,15}$`)
)

// readStrictly reads one request and returns its method, target, host, body and
// trailer in short.
func readStrictly(reader *bufio.Reader) (string, error) {
	line, err := readLine(reader)
	if err != nil {
		return "", err
	}
	first := requestLine.FindStringSubmatch(line)
	if first == nil {
		return "", fmt.Errorf("request line %q", line)
	}
	fields, err := readFields(reader)
	if err != nil {
		return "", err
	}
	if len(fields["host"]) != 1 {
		return "", fmt.Errorf("%d fields Host", len(fields["host"]))
	}
	body, trailer, err := readBody(reader, fields)
	if err != nil {
		return "", err
	}
	return strings.TrimSuffix(fmt.Sprintf("%s %s of %s %s%s", first[1], first[2], fields["host"][0], body, trailer), " "), nil
}

func readLine(reader *bufio.Reader) (string, error) {
	line, err := reader.ReadString('\n')
	if err != nil {
		return "", err
	}
	text, found := strings.CutSuffix(line, "\r\n")
	if !found || strings.ContainsAny(text, "\r\x00") {
		return "", fmt.Errorf("line %q", line)
	}
	return text, nil
}

func readFields(reader *bufio.Reader) (map[string][]string, error) {
	fields := map[string][]string{}
	for {
		line, err := readLine(reader)
		if err != nil {
			return nil, err
		}
		if line == "" {
			return fields, nil
		}
		parts := fieldLine.FindStringSubmatch(line)
		if parts == nil {
			return nil, fmt.Errorf("field line %q", line)
		}
		name := strings.ToLower(parts[1])
		fields[name] = append(fields[name], parts[2])
	}
}

func readBody(reader *bufio.Reader, fields map[string][]string) (body, trailer string, err error) {
	lengths, codings := fields["content-length"], fields["transfer-encoding"]
	switch {
	case len(lengths)+len(codings) > 1:
		return "", "", fmt.Errorf("lengths %q and codings %q", lengths, codings)
	case len(codings) == 1 && codings[0] != "chunked":
		return "", "", fmt.Errorf("coding %q", codings[0])
	case len(codings) == 1:
		return readChunks(reader)
	case len(lengths) == 0:
		return "", "", nil
	case !decimal.MatchString(lengths[0]):
		return "", "", fmt.Errorf("length %q", lengths[0])
	}
	length, _ := strconv.Atoi(lengths[0])
	text := make([]byte, length)
	_, err = io.ReadFull(reader, text)
	return string(text), "", err
}

func readChunks(reader *bufio.Reader) (body, trailer string, err error) {
	var text strings.Builder
	for {
		line, err := readLine(reader)
		if err != nil {
			return "", "", err
		}
		if !hexadecimal.MatchString(line) {
			return "", "", fmt.Errorf("chunk size %q", line)
		}
		size, _ := strconv.ParseInt(line, 16, 64)
		if size == 0 {
			break
		}
		if _, err := io.CopyN(&text, reader, size); err != nil {
			return "", "", err
		}
		if end, err := readLine(reader); err != nil || end != "" {
			return "", "", fmt.Errorf("end of a chunk %q: %w", end, err)
		}
	}
	fields, err := readFields(reader)
	if len(fields) > 0 {
		trailer = fmt.Sprintf(" with trailer %v", fields)
	}
	return text.String(), trailer, err
}
