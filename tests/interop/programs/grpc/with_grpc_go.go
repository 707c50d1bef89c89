// Makes gRPC calls of all kinds with grpc-go: with_grpc_go TARGET plain|tls CHECKS [SECONDS]. See with_grpcio.py.
package main

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/tls"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"time"

	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/keepalive"
	"google.golang.org/grpc/metadata"
	"google.golang.org/grpc/status"
)

const large = 4 * 1024 * 1024

type raw struct{}

func (raw) Marshal(v any) ([]byte, error)      { return *v.(*[]byte), nil }
func (raw) Unmarshal(data []byte, v any) error { *v.(*[]byte) = append([]byte{}, data...); return nil }
func (raw) Name() string                       { return "proto" }

func check(is bool, what ...any) {
	if !is {
		panic(fmt.Sprint(what...))
	}
}

// Sends the messages and returns those of the response.
func stream(ctx context.Context, channel *grpc.ClientConn, name string, messages ...string) ([]string, error) {
	call, err := channel.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, "/probe.Probe/"+name)
	if err != nil {
		return nil, err
	}
	for _, message := range messages {
		data := []byte(message)
		if err := call.SendMsg(&data); err != nil {
			break
		}
	}
	call.CloseSend()
	var got []string
	for {
		var data []byte
		if err := call.RecvMsg(&data); err == io.EOF {
			return got, nil
		} else if err != nil {
			return got, err
		}
		got = append(got, string(data))
	}
}

func calls(channel *grpc.ClientConn) {
	three := []string{"one", "two", "three"}
	expected := map[string][]string{"Unary": {"one"}, "ClientStream": {"onetwothree"}, "ServerStream": {"one", "one", "one"}, "Bidi": three}
	for number := 0; number < 5; number++ {
		for name, want := range expected {
			ctx := metadata.AppendToOutgoingContext(context.Background(), "x-call", fmt.Sprint(name, number, os.Getpid()), "x-fail", "2")
			sent := three
			if name == "Unary" || name == "ServerStream" {
				sent = three[:1]
			}
			got, err := stream(ctx, channel, name, sent...)
			check(err == nil && strings.Join(got, ",") == strings.Join(want, ","), name, got, err)
		}
	}
}

func cancelled(channel *grpc.ClientConn) int {
	got, err := stream(context.Background(), channel, "Cancelled", "")
	check(err == nil, err)
	count, _ := strconv.Atoi(got[0])
	return count
}

// Begins a call of Slow and returns it when its first message has arrived.
func slow(ctx context.Context, channel *grpc.ClientConn) grpc.ClientStream {
	call, err := channel.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true}, "/probe.Probe/Slow")
	check(err == nil, err)
	data := []byte("x")
	check(call.SendMsg(&data) == nil && call.CloseSend() == nil && call.RecvMsg(&data) == nil, "no message of Slow")
	return call
}

func rest(channel *grpc.ClientConn) {
	binary := make([]byte, 256)
	for at := range binary {
		binary[at] = byte(at)
	}
	ctx := metadata.AppendToOutgoingContext(context.Background(), "x-probe-bin", string(binary))
	var head, end metadata.MD
	request, got := []byte("one"), []byte{}
	err := channel.Invoke(ctx, "/probe.Probe/Unary", &request, &got, grpc.Header(&head), grpc.Trailer(&end))
	check(err == nil && head.Get("x-probe-bin")[0] == string(binary) && end.Get("x-trailer-bin")[0] == string(binary), err, head, end)
	request = make([]byte, large)
	rand.Read(request)
	err = channel.Invoke(context.Background(), "/probe.Probe/Unary", &request, &got)
	check(err == nil && bytes.Equal(request, got), err)
	before := cancelled(channel)
	limited, end1 := context.WithTimeout(context.Background(), 500*time.Millisecond)
	defer end1()
	err = slow(limited, channel).RecvMsg(&got)
	check(status.Code(err) == codes.DeadlineExceeded, err)
	stopped, cancel := context.WithCancel(context.Background())
	slow(stopped, channel)
	cancel()
	for cancelled(channel) < before+2 {
	}
}

func pings(channel *grpc.ClientConn) {
	seconds, _ := strconv.Atoi(os.Args[4])
	stopped, cancel := context.WithCancel(context.Background())
	call := slow(stopped, channel)
	time.Sleep(time.Duration(seconds) * time.Second)
	got, err := stream(context.Background(), channel, "Unary", "one")
	check(err == nil && len(got) == 1, err)
	cancel()
	var data []byte
	check(status.Code(call.RecvMsg(&data)) == codes.Canceled, "the stream has broken")
}

// Sends many small messages, each after the response to the previous one: grpc-go pings whenever data arrives.
func dialog(channel *grpc.ClientConn) {
	call, err := channel.NewStream(context.Background(), &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, "/probe.Probe/Bidi")
	check(err == nil, err)
	for number := 0; number < 20000; number++ {
		data := []byte("message")
		check(call.SendMsg(&data) == nil, number)
		err := call.RecvMsg(&data)
		check(err == nil, number, err)
	}
	call.CloseSend()
}

func main() {
	security := insecure.NewCredentials()
	if os.Args[2] == "tls" {
		security = credentials.NewTLS(&tls.Config{})
	}
	channel, err := grpc.NewClient(os.Args[1], grpc.WithTransportCredentials(security), grpc.WithDisableRetry(),
		grpc.WithDefaultCallOptions(grpc.ForceCodec(raw{}), grpc.MaxCallRecvMsgSize(2*large)),
		grpc.WithKeepaliveParams(keepalive.ClientParameters{Time: 10 * time.Second, PermitWithoutStream: true}))
	check(err == nil, err)
	for _, name := range strings.Split(os.Args[3], ",") {
		map[string]func(*grpc.ClientConn){"calls": calls, "rest": rest, "pings": pings, "dialog": dialog}[name](channel)
	}
	fmt.Println("ok")
}
