package imclient

import (
	"context"
	"errors"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/grpc/test/bufconn"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
)

// diskServer answers DiskService and keeps what was asked.
type diskServer struct {
	imrpc.UnimplementedDiskServiceServer
	asked    proto.Message
	err      error
	replicas map[string]*imrpc.ReplicaInstance
}

func (s *diskServer) answer(asked proto.Message) (*imrpc.Disk, error) {
	s.asked = asked
	if s.err != nil {
		return nil, s.err
	}
	return &imrpc.Disk{Id: "259-0", Uuid: "u", Path: "/dev/nvme0n1", Type: "block", TotalSize: 100, FreeSize: 60, Driver: "nvme",
		Name:  "din1",
		State: "ready"}, nil
}

func (s *diskServer) DiskGet(_ context.Context, r *imrpc.DiskGetRequest) (*imrpc.Disk, error) {
	return s.answer(r)
}

func (s *diskServer) DiskCreate(_ context.Context, r *imrpc.DiskCreateRequest) (*imrpc.Disk, error) {
	return s.answer(r)
}

func (s *diskServer) DiskDelete(_ context.Context, r *imrpc.DiskDeleteRequest) (*emptypb.Empty, error) {
	_, err := s.answer(r)
	return &emptypb.Empty{}, err
}

func (s *diskServer) DiskReplicaInstanceDelete(_ context.Context, r *imrpc.DiskReplicaInstanceDeleteRequest) (*emptypb.Empty, error) {
	_, err := s.answer(r)
	return &emptypb.Empty{}, err
}

func (s *diskServer) DiskReplicaInstanceList(_ context.Context,
	r *imrpc.DiskReplicaInstanceListRequest) (*imrpc.DiskReplicaInstanceListResponse, error) {
	_, err := s.answer(r)
	return &imrpc.DiskReplicaInstanceListResponse{ReplicaInstances: s.replicas}, err
}

func serveDisks(t *testing.T) (*diskServer, *Dialer) {
	t.Helper()
	s, listener, server := &diskServer{}, bufconn.Listen(1<<20), grpc.NewServer()
	imrpc.RegisterDiskServiceServer(server, s)
	go func() { _ = server.Serve(listener) }()
	t.Cleanup(server.Stop)
	return s, NewDialer(Options{Dial: func(ctx context.Context, address string) (net.Conn, error) {
		require.Equal(t, "10.0.0.1:8502", address)
		return listener.DialContext(ctx)
	}})
}

func TestDiskCallsCarryWhatTheyNameAndTheBlockSize(t *testing.T) {
	s, dialer := serveDisks(t)
	ref := DiskRef{DiskQuery: DiskQuery{Name: "di", Path: "/dev/nvme0n1", Driver: "nvme"}, UUID: "u"}
	want := Disk{ID: "259-0", UUID: "u", Name: "din1", Path: "/dev/nvme0n1", Type: "block", Driver: "nvme", State: DiskReady,
		TotalBytes: 100, FreeBytes: 60}

	got, err := dialer.Disk(t.Context(), "10.0.0.1", ref.DiskQuery)
	require.NoError(t, err)
	require.Equal(t, want, got)
	sent(t, s, &imrpc.DiskGetRequest{DiskType: imrpc.DiskType_block, DiskName: "di", DiskPath: "/dev/nvme0n1", DiskDriver: "nvme"})

	got, err = dialer.CreateDisk(t.Context(), "10.0.0.1", ref)
	require.NoError(t, err)
	require.Equal(t, want, got)
	sent(t, s, &imrpc.DiskCreateRequest{DiskType: imrpc.DiskType_block, DiskName: "di", DiskUuid: "u", DiskPath: "/dev/nvme0n1",
		BlockSize:  512,
		DiskDriver: "nvme"})

	require.NoError(t, dialer.DeleteDisk(t.Context(), "10.0.0.1", ref))
	sent(t, s, &imrpc.DiskDeleteRequest{DiskType: imrpc.DiskType_block, DiskName: "di", DiskUuid: "u", DiskPath: "/dev/nvme0n1",
		DiskDriver: "nvme"})

	require.NoError(t, dialer.DeleteDiskReplica(t.Context(), "10.0.0.1", ref, "r-1"))
	sent(t, s, &imrpc.DiskReplicaInstanceDeleteRequest{DiskType: imrpc.DiskType_block, DiskName: "di", DiskUuid: "u",
		ReplciaInstanceName: "r-1",
		DiskDriver:          "nvme"})
}

func sent(t *testing.T, s *diskServer, want proto.Message) {
	t.Helper()
	require.True(t, proto.Equal(want, s.asked), "%v", s.asked)
}

func TestReplicasOfOtherDisksAreLeftOutOfADisksList(t *testing.T) {
	s, dialer := serveDisks(t)
	s.replicas = map[string]*imrpc.ReplicaInstance{
		"r-1": {Name: "r-1", DiskName: "din1", DiskUuid: "u", SpecSize: 10, ActualSize: 5}, "r-2": {Name: "r-2", DiskUuid: "u2"},
	}
	got, err := dialer.DiskReplicas(t.Context(), "10.0.0.1", DiskRef{DiskQuery: DiskQuery{Name: "di", Driver: "nvme"}, UUID: "u"})
	require.NoError(t, err)
	require.Equal(t, map[string]DiskReplica{"r-1": {Name: "r-1", DiskName: "din1", DiskUUID: "u", SpecBytes: 10, ActualBytes: 5}}, got)
}

func TestADiskIsNotFoundOnlyByTheServersWordsAboutThatDisk(t *testing.T) {
	s, dialer := serveDisks(t)
	for text, notFound := range map[string]bool{
		"rpc error: code = NotFound desc = cannot find disk di":        true,
		"failed: cannot find disk di: it was never created":            true,
		"cannot find disk di-2":                                        false,
		"cannot find disk di2 nor cannot find disk di":                 true,
		"cannot find lvstore with UUID di":                             false,
		`no disk bdev found with name "di"`:                            false,
		"failed to update disk from lvstore":                           false,
		"cannot find replica di":                                       false,
		"transport is closing while something cannot find disk dinner": false,
	} {
		s.err = status.Error(codes.Internal, text)
		_, err := dialer.Disk(t.Context(), "10.0.0.1", DiskQuery{Name: "di"})
		require.Error(t, err)
		require.Equal(t, notFound, errors.Is(err, ErrDiskNotFound), text)
		require.Equal(t, !notFound, errors.Is(err, ErrFailed), text)
		require.Equal(t, strings.Contains(text, "disk bdev") || strings.Contains(text, "update disk"), errors.Is(err, ErrDeviceGone), text)
		_, err = dialer.CreateDisk(t.Context(), "10.0.0.1", DiskRef{DiskQuery: DiskQuery{Name: "di"}})
		require.NotErrorIs(t, err, ErrDiskNotFound, "only DiskGet answers that a disk is unknown")
	}
	s.err = status.Error(codes.Unavailable, "gone")
	_, err := dialer.Disk(t.Context(), "10.0.0.1", DiskQuery{Name: "di"})
	require.ErrorIs(t, err, ErrUnreachable)
}
