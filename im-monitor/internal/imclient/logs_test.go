package imclient

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/shared/api/v1beta2"
)

func (s *fakeServer) LogSetLevel(_ context.Context, in *imrpc.LogSetLevelRequest) (*emptypb.Empty, error) {
	s.note("level " + in.GetDataEngine().String() + " " + in.GetLevel())
	if in.GetLevel() == "refused" {
		return nil, status.Error(codes.Internal, "no such level")
	}
	return &emptypb.Empty{}, nil
}

func (s *fakeServer) LogSetFlags(_ context.Context, in *imrpc.LogSetFlagsRequest) (*emptypb.Empty, error) {
	s.note("flags " + in.GetDataEngine().String() + " " + in.GetFlags())
	return &emptypb.Empty{}, nil
}

func TestAServerIsAskedForEachOfItsLogs(t *testing.T) {
	const own, spdk = "level DATA_ENGINE_V1 ", "level DATA_ENGINE_V2 "
	for name, c := range map[string]struct {
		engine string
		logs   Logs
		calls  []string
		fails  bool
	}{
		"v1": {v1beta2.DataEngineV1, Logs{Level: "Debug"}, []string{own + "Debug"}, false},
		"v2": {v1beta2.DataEngineV2, Logs{"Info", "Notice", "nvmf,bdev"},
			[]string{own + "Info", spdk + "Notice", "flags DATA_ENGINE_V2 nvmf,bdev"}, false},
		"v2 without flags clears them": {v1beta2.DataEngineV2, Logs{"Info", "Notice", ""},
			[]string{own + "Info", spdk + "Notice", "flags DATA_ENGINE_V2 "}, false},
		"its own level is refused": {v1beta2.DataEngineV2, Logs{"refused", "Notice", ""}, []string{own + "refused"}, true},
		"SPDK refuses its level":   {v1beta2.DataEngineV2, Logs{"Info", "refused", ""}, []string{own + "Info", spdk + "refused"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t)
			conn := s.connect(t, c.engine, Options{})
			err := conn.SetLogs(t.Context(), c.logs)
			require.Equal(t, c.fails, errors.Is(err, ErrFailed), "%v", err)
			require.Equal(t, c.fails, err != nil)
			require.Equal(t, c.calls, s.called())
		})
	}
}
