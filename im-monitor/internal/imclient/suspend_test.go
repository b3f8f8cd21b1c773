package imclient

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/internal/rpc/spdkrpc"
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

func (s *fakeServer) EngineSetTargetListenerANAState(_ context.Context,
	request *spdkrpc.EngineSetTargetListenerANAStateRequest) (*emptypb.Empty, error) {
	s.note("set " + request.GetName() + " " + request.GetAnaState())
	s.mu.Lock()
	defer s.mu.Unlock()
	return &emptypb.Empty{}, s.deletion
}

func TestTheStateOfAnEnginesPathIsSetAtItsOwnServerAndATargetThatIsGoneIsNotFound(t *testing.T) {
	s := serve(t)
	c := s.connect(t, "v2", Options{})
	require.NoError(t, c.SetANAState(t.Context(), "e-1", ANAInaccessible))
	require.Contains(t, s.called(), "set e-1 inaccessible")
	for err, kind := range map[error]error{
		status.Error(codes.Internal, "engine e-1: Unable to find subsystem with NQN x"): ErrNotFound,
		status.Error(codes.NotFound, "engine e-1 was not found"):                        ErrNotFound,
		status.Error(codes.Internal, "something else"):                                  ErrFailed,
		status.Error(codes.Unavailable, "no answer"):                                    ErrUnreachable,
	} {
		s.deletion = err
		require.ErrorIs(t, c.SetANAState(t.Context(), "e-1", ANAOptimized), kind)
	}
	require.ErrorIs(t, c.SetANAState(t.Context(), "", ANAOptimized), ErrRefused)
	require.ErrorIs(t, s.connect(t, "v1", Options{}).SetANAState(t.Context(), "e-1", ANAOptimized), ErrRefused)
}
