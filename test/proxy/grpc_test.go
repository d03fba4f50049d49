// Copyright The Penstock Authors.
// SPDX-License-Identifier: Apache-2.0

package proxy

import (
	"context"
	"errors"
	"io"
	"net"
	"testing"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	pb "google.golang.org/grpc/interop/grpc_testing"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"

	"github.com/penstock-dev/penstock/test/proxyrun"
)

// The metadata that interoperability tests of gRPC send and expect back.
const (
	initialKey  = "x-grpc-test-echo-initial"
	trailingKey = "x-grpc-test-echo-trailing-bin"
)

// callee is the service of gRPC's interoperability tests.
type callee struct {
	pb.UnimplementedTestServiceServer
}

func startCallee(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := grpc.NewServer(grpc.MaxRecvMsgSize(16<<20), grpc.MaxSendMsgSize(16<<20))
	pb.RegisterTestServiceServer(server, callee{})
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return listener.Addr().String()
}

func (callee) EmptyCall(context.Context, *pb.Empty) (*pb.Empty, error) { return &pb.Empty{}, nil }

func (callee) UnaryCall(ctx context.Context, in *pb.SimpleRequest) (*pb.SimpleResponse, error) {
	if in.GetResponseStatus().GetCode() != 0 {
		return nil, status.Error(codes.Code(in.ResponseStatus.Code), in.ResponseStatus.Message)
	}
	sent, _ := metadata.FromIncomingContext(ctx)
	if values := sent[initialKey]; len(values) > 0 {
		_ = grpc.SetHeader(ctx, metadata.Pairs(initialKey, values[0]))
	}
	if values := sent[trailingKey]; len(values) > 0 {
		_ = grpc.SetTrailer(ctx, metadata.Pairs(trailingKey, values[0]))
	}
	return &pb.SimpleResponse{Payload: &pb.Payload{Body: make([]byte, in.ResponseSize)}}, nil
}

func (callee) StreamingInputCall(stream pb.TestService_StreamingInputCallServer) error {
	sum := int32(0)
	for {
		in, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return stream.SendAndClose(&pb.StreamingInputCallResponse{AggregatedPayloadSize: sum})
		}
		if err != nil {
			return err
		}
		sum += int32(len(in.Payload.Body))
	}
}

func (callee) StreamingOutputCall(in *pb.StreamingOutputCallRequest, stream pb.TestService_StreamingOutputCallServer) error {
	return respond(in, stream.Send)
}

func (callee) FullDuplexCall(stream pb.TestService_FullDuplexCallServer) error {
	for {
		in, err := stream.Recv()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if in.GetResponseStatus().GetCode() != 0 {
			return status.Error(codes.Code(in.ResponseStatus.Code), in.ResponseStatus.Message)
		}
		if err := respond(in, stream.Send); err != nil {
			return err
		}
	}
}

func respond(in *pb.StreamingOutputCallRequest, send func(*pb.StreamingOutputCallResponse) error) error {
	for _, parameters := range in.ResponseParameters {
		if err := send(&pb.StreamingOutputCallResponse{Payload: &pb.Payload{Body: make([]byte, parameters.Size)}}); err != nil {
			return err
		}
	}
	return nil
}

func testCalls(t *testing.T, sidecar *proxyrun.Proxy) {
	for name, test := range map[string]func(t *testing.T, client pb.TestServiceClient){
		"empty":                testEmptyCall,
		"unary, large":         testLargeCall,
		"client streaming":     testClientStream,
		"server streaming":     testServerStream,
		"ping-pong":            testPingPong,
		"empty stream":         testEmptyStream,
		"metadata":             testMetadata,
		"status":               testStatus,
		"status of a stream":   testStreamStatus,
		"cancel before a word": testCancelEarly,
		"cancel in the middle": testCancelLate,
		"deadline":             testDeadline,
		"many calls at a time": testManyCalls,
		"refusal":              testRefusedCall,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			conn, err := grpc.NewClient("passthrough:///"+sidecar.Address, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithNoProxy(),
				grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(16<<20), grpc.MaxCallSendMsgSize(16<<20)))
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

func testEmptyCall(t *testing.T, client pb.TestServiceClient) {
	_, err := client.EmptyCall(patient(t), &pb.Empty{})
	wantCode(t, err, codes.OK)
}

func testLargeCall(t *testing.T, client pb.TestServiceClient) {
	const sent, want = 5_000_000, 7_000_000
	answer, err := client.UnaryCall(patient(t), &pb.SimpleRequest{ResponseSize: want, Payload: &pb.Payload{Body: make([]byte, sent)}})
	wantCode(t, err, codes.OK)
	if got := len(answer.GetPayload().GetBody()); got != want {
		t.Errorf("%d bytes came back, want %d", got, want)
	}
}

func testClientStream(t *testing.T, client pb.TestServiceClient) {
	stream, err := client.StreamingInputCall(patient(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int{27182, 8, 1828, 45904} {
		if err := stream.Send(&pb.StreamingInputCallRequest{Payload: &pb.Payload{Body: make([]byte, size)}}); err != nil {
			t.Fatal(err)
		}
	}
	answer, err := stream.CloseAndRecv()
	if err != nil || answer.AggregatedPayloadSize != 74922 {
		t.Errorf("the sum is %v, %v, want 74922", answer, err)
	}
}

func sized(sizes ...int32) []*pb.ResponseParameters {
	var parameters []*pb.ResponseParameters
	for _, size := range sizes {
		parameters = append(parameters, &pb.ResponseParameters{Size: size})
	}
	return parameters
}

func testServerStream(t *testing.T, client pb.TestServiceClient) {
	sizes := []int32{31415, 9, 2653, 58979, 2_000_000}
	stream, err := client.StreamingOutputCall(patient(t), &pb.StreamingOutputCallRequest{ResponseParameters: sized(sizes...)})
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range sizes {
		if answer, err := stream.Recv(); err != nil || len(answer.Payload.Body) != int(size) {
			t.Fatalf("the message is %d bytes long, %v, want %d", len(answer.GetPayload().GetBody()), err, size)
		}
	}
	if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("behind the messages comes %v, want the end", err)
	}
}

func testPingPong(t *testing.T, client pb.TestServiceClient) {
	stream, err := client.FullDuplexCall(patient(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, size := range []int32{31415, 9, 2653, 58979} {
		if err := stream.Send(&pb.StreamingOutputCallRequest{ResponseParameters: sized(size), Payload: &pb.Payload{Body: make([]byte, 100)}}); err != nil {
			t.Fatal(err)
		}
		if answer, err := stream.Recv(); err != nil || len(answer.Payload.Body) != int(size) {
			t.Fatalf("the message is %d bytes long, %v, want %d", len(answer.GetPayload().GetBody()), err, size)
		}
	}
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("behind the messages comes %v, want the end", err)
	}
}

func testEmptyStream(t *testing.T, client pb.TestServiceClient) {
	stream, err := client.FullDuplexCall(patient(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.CloseSend(); err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); !errors.Is(err, io.EOF) {
		t.Errorf("the first message is %v, want the end", err)
	}
}

func testMetadata(t *testing.T, client pb.TestServiceClient) {
	ctx := metadata.AppendToOutgoingContext(patient(t), initialKey, "first", trailingKey, "\x0a\x0b\x0a\xff")
	var header, trailer metadata.MD
	_, err := client.UnaryCall(ctx, &pb.SimpleRequest{}, grpc.Header(&header), grpc.Trailer(&trailer))
	wantCode(t, err, codes.OK)
	if got := header[initialKey]; len(got) != 1 || got[0] != "first" {
		t.Errorf("the header holds %q, want what was sent", got)
	}
	if got := trailer[trailingKey]; len(got) != 1 || got[0] != "\x0a\x0b\x0a\xff" {
		t.Errorf("the trailer holds %q, want what was sent", got)
	}
}

const oddMessage = "\t\ntest with whitespace\r\nand Unicode BMP \u263a and non-BMP \U0001f608\t\n"

func testStatus(t *testing.T, client pb.TestServiceClient) {
	_, err := client.UnaryCall(patient(t), &pb.SimpleRequest{ResponseStatus: &pb.EchoStatus{Code: int32(codes.Unknown), Message: oddMessage}})
	wantCode(t, err, codes.Unknown)
	if got := status.Convert(err).Message(); got != oddMessage {
		t.Errorf("the message is %q, want %q", got, oddMessage)
	}
}

func testStreamStatus(t *testing.T, client pb.TestServiceClient) {
	stream, err := client.FullDuplexCall(patient(t))
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Send(&pb.StreamingOutputCallRequest{ResponseStatus: &pb.EchoStatus{Code: int32(codes.DataLoss), Message: "gone"}}); err != nil {
		t.Fatal(err)
	}
	_, err = stream.Recv()
	wantCode(t, err, codes.DataLoss)
}

func testCancelEarly(t *testing.T, client pb.TestServiceClient) {
	ctx, cancel := context.WithCancel(patient(t))
	stream, err := client.StreamingInputCall(ctx)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	_, err = stream.CloseAndRecv()
	wantCode(t, err, codes.Canceled)
}

func testCancelLate(t *testing.T, client pb.TestServiceClient) {
	ctx, cancel := context.WithCancel(patient(t))
	stream, err := client.FullDuplexCall(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Send(&pb.StreamingOutputCallRequest{ResponseParameters: sized(31415)}); err != nil {
		t.Fatal(err)
	}
	if _, err := stream.Recv(); err != nil {
		t.Fatal(err)
	}
	cancel()
	_, err = stream.Recv()
	wantCode(t, err, codes.Canceled)
}

func testDeadline(t *testing.T, client pb.TestServiceClient) {
	ctx, cancel := context.WithTimeout(patient(t), 50*time.Millisecond)
	defer cancel()
	stream, err := client.FullDuplexCall(ctx)
	if err == nil {
		_, err = stream.Recv()
	}
	wantCode(t, err, codes.DeadlineExceeded)
}

func testManyCalls(t *testing.T, client pb.TestServiceClient) {
	// More than a connection may have under way.
	const calls = 300
	ended := make(chan error, calls)
	for range calls {
		go func() {
			_, err := client.UnaryCall(patient(t), &pb.SimpleRequest{ResponseSize: 10_000})
			ended <- err
		}()
	}
	for range calls {
		wantCode(t, <-ended, codes.OK)
	}
}

// testRefusedCall calls what one call an hour is allowed of.
func testRefusedCall(t *testing.T, client pb.TestServiceClient) {
	_, err := client.UnimplementedCall(patient(t), &pb.Empty{})
	wantCode(t, err, codes.Unimplemented)
	var trailer metadata.MD
	_, err = client.UnimplementedCall(patient(t), &pb.Empty{}, grpc.Trailer(&trailer))
	wantCode(t, err, codes.ResourceExhausted)
	if len(trailer["grpc-retry-pushback-ms"]) != 1 {
		t.Errorf("the trailer is %v, want one that says when to call again", trailer)
	}
}
