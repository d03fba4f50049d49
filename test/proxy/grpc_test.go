// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/interop"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/penstock-dev/penstock/test/proxyrun"
)

// interopCases are the clients of gRPC's interoperability tests
// (https://github.com/grpc/grpc/blob/master/doc/interop-test-descriptions.md) that need
// neither an account nor a second server.
var interopCases = map[string]func(ctx context.Context, conn *grpc.ClientConn){
	"empty_unary":                 called(interop.DoEmptyUnaryCall),
	"large_unary":                 called(interop.DoLargeUnaryCall),
	"client_streaming":            called(interop.DoClientStreaming),
	"server_streaming":            called(interop.DoServerStreaming),
	"ping_pong":                   called(interop.DoPingPong),
	"empty_stream":                called(interop.DoEmptyStream),
	"timeout_on_sleeping_server":  called(interop.DoTimeoutOnSleepingServer),
	"cancel_after_begin":          called(interop.DoCancelAfterBegin),
	"cancel_after_first_response": called(interop.DoCancelAfterFirstResponse),
	"custom_metadata":             called(interop.DoCustomMetadata),
	"status_code_and_message":     called(interop.DoStatusCodeAndMessage),
	"special_status_message":      called(interop.DoSpecialStatusMessage),
	"unimplemented_method":        interop.DoUnimplementedMethod,
	"unimplemented_service": func(ctx context.Context, conn *grpc.ClientConn) {
		interop.DoUnimplementedService(ctx, pb.NewUnimplementedServiceClient(conn))
	},
}

func called(test func(context.Context, pb.TestServiceClient, ...grpc.CallOption)) func(context.Context, *grpc.ClientConn) {
	return func(ctx context.Context, conn *grpc.ClientConn) { test(ctx, pb.NewTestServiceClient(conn)) }
}

// Where a process of these tests is such a client, its environment says which, and
// where to call.
const (
	interopCase    = "PENSTOCK_INTEROP_CASE"
	interopAddress = "PENSTOCK_INTEROP_ADDRESS"
)

// runInteropCase is the whole of a process: the clients end theirs at a failure.
func runInteropCase(name string) {
	test := interopCases[name]
	conn, err := dial(os.Getenv(interopAddress))
	if test == nil || err != nil {
		fmt.Fprintf(os.Stderr, "no test %q, or no connection: %v\n", name, err)
		os.Exit(1)
	}
	ctx, cancel := context.WithTimeout(context.Background(), proxyrun.Patience)
	defer cancel()
	test(ctx, conn)
}

// startCallee starts the service of gRPC's interoperability tests.
func startCallee(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer()
	pb.RegisterTestServiceServer(server, interop.NewTestServer())
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return listener.Addr().String()
}

func dial(address string) (*grpc.ClientConn, error) {
	return grpc.NewClient("passthrough:///"+address, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithNoProxy())
}

func testCalls(t *testing.T, sidecar *proxyrun.Proxy) {
	for name := range interopCases {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			client := exec.CommandContext(patient(t), os.Args[0])
			client.Env = append(os.Environ(), interopCase+"="+name, interopAddress+"="+sidecar.Address)
			if output, err := client.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, output)
			}
		})
	}
	for name, test := range map[string]func(t *testing.T, client pb.TestServiceClient){
		"many calls at a time": testManyCalls,
		"refusal":              testRefusedCall,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, err := dial(sidecar.Address)
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = conn.Close() }()
			test(t, pb.NewTestServiceClient(conn))
		})
	}
}

// patient is a context that ends a test that hangs.
func patient(t *testing.T) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), proxyrun.Patience)
	t.Cleanup(cancel)
	return ctx
}

func wantCode(t *testing.T, err error, want codes.Code) {
	t.Helper()
	if got := status.Code(err); got != want {
		t.Errorf("the call ended with %v, want %v", err, want)
	}
}

func testManyCalls(t *testing.T, client pb.TestServiceClient) {
	// More than a connection may have under way.
	const calls = 300
	ended := make(chan error, calls)
	for range calls {
		go func() {
			_, err := client.UnaryCall(patient(t), &pb.SimpleRequest{ResponseSize: 10_000, ResponseType: pb.PayloadType_COMPRESSABLE})
			ended <- err
		}()
	}
	for range calls {
		wantCode(t, <-ended, codes.OK)
	}
}

// testRefusedCall calls what one call an hour is allowed of.
func testRefusedCall(t *testing.T, client pb.TestServiceClient) {
	_, err := client.CacheableUnaryCall(patient(t), &pb.SimpleRequest{})
	wantCode(t, err, codes.Unimplemented)
	var trailer metadata.MD
	_, err = client.CacheableUnaryCall(patient(t), &pb.SimpleRequest{}, grpc.Trailer(&trailer))
	wantCode(t, err, codes.ResourceExhausted)
	if len(trailer["grpc-retry-pushback-ms"]) != 1 {
		t.Errorf("the trailer is %v, want one that says when to call again", trailer)
	}
}
