package imclient

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/emptypb"

	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
)

func (s *fakeServer) InstanceSuspend(_ context.Context, request *imrpc.InstanceSuspendRequest) (*emptypb.Empty, error) {
	s.turn("suspend", request.GetName(), request.GetType(), request.GetDataEngine())
	return &emptypb.Empty{}, nil
}

func (s *fakeServer) InstanceResume(_ context.Context, request *imrpc.InstanceResumeRequest) (*emptypb.Empty, error) {
	s.turn("resume", request.GetName(), request.GetType(), request.GetDataEngine())
	return &emptypb.Empty{}, nil
}

func (s *fakeServer) turn(what, name, typ string, engine imrpc.DataEngine) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turned = append(s.turned, what+" "+typ+" "+name+" "+engine.String())
}

func TestAFrontendIsSuspendedAndResumedUnderItsOwnNameAndType(t *testing.T) {
	s := serve(t)
	c := s.connect(t, "v2", Options{})
	require.NoError(t, c.Suspend(t.Context(), "ef-1"))
	require.NoError(t, c.Resume(t.Context(), "ef-1"))
	require.Equal(t, []string{"suspend engine-frontend ef-1 DATA_ENGINE_V2", "resume engine-frontend ef-1 DATA_ENGINE_V2"}, s.turned)
	require.ErrorIs(t, c.Suspend(t.Context(), ""), ErrRefused)
	require.ErrorIs(t, c.Resume(t.Context(), ""), ErrRefused)
}
