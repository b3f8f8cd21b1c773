package record

import (
	"context"
	"net"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/encoding/protowire"
)

const offset = 1000

// imitation is a fake server of any method: it echoes the first message; a watch sends two messages and ends.
func imitation(_ any, stream grpc.ServerStream) error {
	message := &frame{}
	if err := stream.RecvMsg(message); err != nil {
		return err
	}
	method, _ := grpc.MethodFromServerStream(stream)
	switch baseName(method) {
	case "InstanceGet":
		return status.Error(codes.NotFound, "no such instance")
	case "InstanceWatch":
		if err := stream.SendMsg(message); err != nil {
			return err
		}
	}
	return stream.SendMsg(message)
}

func served(t *testing.T) (*DataPlane, *Sequence, *grpc.ClientConn) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	server := grpc.NewServer(grpc.ForceServerCodecV2(rawCodec{}), grpc.UnknownServiceHandler(imitation))
	go func() { _ = server.Serve(listener) }()
	port := listener.Addr().(*net.TCPAddr).Port - offset
	sequence := &Sequence{}
	proxy := NewDataPlane(sequence, []int{port}, offset)
	require.NoError(t, proxy.Serve("127.0.0.1"))
	client, err := grpc.NewClient("127.0.0.1:"+strconv.Itoa(port), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithDefaultCallOptions(grpc.ForceCodecV2(rawCodec{})))
	require.NoError(t, err)
	t.Cleanup(func() {
		require.NoError(t, client.Close())
		proxy.Close()
		server.Stop()
	})
	return proxy, sequence, client
}

func message(text string) *frame {
	raw := protowire.AppendString(protowire.AppendTag(nil, 2, protowire.BytesType), text)
	return &frame{payload: mem.BufferSlice{mem.SliceBuffer(raw)}}
}

func invoke(client *grpc.ClientConn, method string) (string, error) {
	answer := &frame{}
	err := client.Invoke(context.Background(), "/imrpc.InstanceService/"+method, message("vol-r-1"), answer)
	return nameIn(answer.payload.Materialize()), err
}

func TestAUnaryCallIsForwardedAndCountedButNotNumbered(t *testing.T) {
	proxy, sequence, client := served(t)
	answer, err := invoke(client, "InstanceList")
	require.NoError(t, err)
	require.Equal(t, "vol-r-1", answer)
	_, err = invoke(client, "InstanceGet")
	require.Equal(t, codes.NotFound, status.Code(err))
	require.Equal(t, 2, proxy.Counts().Sum(func(m Method) bool { return !m.Stream }))
	require.Empty(t, sequence.Steps())
}

func TestAStreamIsForwardedToItsEnd(t *testing.T) {
	proxy, _, client := served(t)
	stream, err := client.NewStream(context.Background(), &grpc.StreamDesc{ServerStreams: true}, "/imrpc.InstanceService/InstanceWatch")
	require.NoError(t, err)
	require.NoError(t, stream.SendMsg(message("x")))
	require.NoError(t, stream.CloseSend())
	require.NoError(t, stream.RecvMsg(&frame{}))
	require.NoError(t, stream.RecvMsg(&frame{}))
	require.Error(t, stream.RecvMsg(&frame{}))
	require.Equal(t, 1, proxy.Counts().Sum(func(m Method) bool { return m.Stream }))
}

func TestAnEffectIsNumberedAndCutOnBothSides(t *testing.T) {
	for side, reached := range map[Side]int{Before: 1, After: 2} {
		t.Run(side.String(), func(t *testing.T) {
			proxy, sequence, client := served(t)
			sequence.CutAt(2, side, func(Step) Verdict { return Drop })
			_, err := invoke(client, "InstanceDelete")
			require.NoError(t, err)
			_, err = invoke(client, "InstanceDelete")
			require.Equal(t, codes.Unavailable, status.Code(err))
			require.Len(t, proxy.Calls(), reached)
			require.Equal(t, "InstanceDelete vol-r-1 at 127.0.0.1", sequence.Steps()[1].What)
		})
	}
}

func TestEveryCallCanBeRefused(t *testing.T) {
	proxy, sequence, client := served(t)
	var asked []string
	proxy.BeforeEach(func(call Call) error {
		asked = append(asked, call.Method+" at "+call.Address)
		return status.Error(codes.ResourceExhausted, "refused")
	})
	for _, method := range []string{"InstanceList", "InstanceDelete"} {
		_, err := invoke(client, method)
		require.Equal(t, codes.ResourceExhausted, status.Code(err))
	}
	require.Equal(t, []string{"InstanceList at 127.0.0.1", "InstanceDelete at 127.0.0.1"}, asked)
	require.Empty(t, sequence.Steps(), "no call reached the server")
}

func TestAForgottenAddressIsNoLongerServed(t *testing.T) {
	proxy, _, client := served(t)
	proxy.Forget("127.0.0.1")
	_, err := invoke(client, "InstanceList")
	require.Equal(t, codes.Unavailable, status.Code(err))
}
