package imclient

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/types/known/emptypb"

	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
)

func (s *fakeServer) InstanceCreate(ctx context.Context, request *imrpc.InstanceCreateRequest) (*imrpc.InstanceResponse, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.created = append(s.created, request)
	if deadline, ok := ctx.Deadline(); ok {
		s.patience = time.Until(deadline)
	}
	return &imrpc.InstanceResponse{Spec: request.GetSpec()}, s.creation
}

func (s *fakeServer) InstanceSwitchOverTarget(_ context.Context, request *imrpc.InstanceSwitchOverTargetRequest) (*emptypb.Empty, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.switched = append(s.switched, request)
	return &emptypb.Empty{}, nil
}

func TestCreationsGoOutInTheWordsOfTheContract(t *testing.T) {
	for _, c := range []struct {
		name    string
		request CreateRequest
		want    *imrpc.InstanceSpec
	}{
		{"a process", CreateRequest{Name: "r-1", Type: "replica", DataEngine: "v1", Volume: "vol", PortCount: 10,
			PortArgs: []string{"--listen,:"},
			Process:  &Process{Binary: "/b", Args: []string{"replica"}}},
			&imrpc.InstanceSpec{Name: "r-1", Type: "replica", VolumeName: "vol", PortCount: 10, PortArgs: []string{"--listen,:"},
				ProcessInstanceSpec: &imrpc.ProcessInstanceSpec{Binary: "/b", Args: []string{"replica"}}}},
		{"a frontend", CreateRequest{Name: "ef-1", Type: "engine-frontend", DataEngine: "v2", Volume: "vol", PortCount: 1,
			EngineName:    "e-1",
			TargetAddress: "10.0.0.9:20001", SPDK: &SPDK{Size: 5, Frontend: "spdk-tcp-nvmf", IOQueues: 2}},
			&imrpc.InstanceSpec{Name: "ef-1", Type: "engine-frontend", VolumeName: "vol", DataEngine: imrpc.DataEngine_DATA_ENGINE_V2,
				PortCount:  1,
				EngineName: "e-1", TargetAddress: "10.0.0.9:20001",
				SpdkInstanceSpec: &imrpc.SpdkInstanceSpec{Size: 5, Frontend: "spdk-tcp-nvmf", NvmeTcpNrIoQueues: 2}}},
		{"an engine", CreateRequest{Name: "e-1", Type: "engine", DataEngine: "v2", PortCount: 1,
			SPDK: &SPDK{Replicas: map[string]string{"r": "10.0.0.1:1"}, SalvageRequested: true}},
			&imrpc.InstanceSpec{Name: "e-1", Type: "engine", DataEngine: imrpc.DataEngine_DATA_ENGINE_V2, PortCount: 1,
				SpdkInstanceSpec: &imrpc.SpdkInstanceSpec{ReplicaAddressMap: map[string]string{"r": "10.0.0.1:1"},
					SalvageRequested: true}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t)
			require.NoError(t, s.connect(t, c.request.DataEngine, Options{}).Create(t.Context(), c.request))
			require.True(t, proto.Equal(c.want, s.created[0].GetSpec()), "%v", s.created[0].GetSpec())
		})
	}
}

func TestACreationMayTakeAsLongAsARealServerTakes(t *testing.T) {
	engine := func(replicas int) CreateRequest {
		all := map[string]string{}
		for n := range replicas {
			all[fmt.Sprintf("r-%d", n)] = fmt.Sprintf("10.0.0.1:%d", 1+n)
		}
		return CreateRequest{Name: "e-1", Type: "engine", DataEngine: "v2", PortCount: 1, SPDK: &SPDK{Replicas: all}}
	}
	for _, c := range []struct {
		name    string
		request CreateRequest
		takes   time.Duration
	}{
		{"a frontend whose target is dead",
			CreateRequest{Name: "ef-1", Type: "engine-frontend", DataEngine: "v2", SPDK: &SPDK{}}, 119 * time.Second},
		{"an engine with three dead replicas", engine(3), 90 * time.Second},
		{"an engine with ten dead replicas", engine(10), 300 * time.Second},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t)
			require.NoError(t, s.connect(t, "v2", Options{}).Create(t.Context(), c.request))
			require.Greater(t, s.patience, c.takes+10*time.Second)
		})
	}
}

func TestANameThatIsTakenIsToldApartFromARefusal(t *testing.T) {
	request := CreateRequest{Name: "r-1", Type: "replica", DataEngine: "v1", Process: &Process{Binary: "/b"}}
	for code, want := range map[codes.Code]error{codes.AlreadyExists: ErrAlreadyExists, codes.InvalidArgument: ErrRefused,
		codes.Internal: ErrFailed, codes.Unavailable: ErrUnreachable} {
		s := serve(t)
		s.creation = status.Error(code, "no")
		require.ErrorIs(t, s.connect(t, "v1", Options{}).Create(t.Context(), request), want)
	}
}

func TestAnIncompleteRequestNeverGoesOut(t *testing.T) {
	s := serve(t)
	c := s.connect(t, "v1", Options{})
	require.ErrorIs(t, c.Create(t.Context(), CreateRequest{Name: "r-1", Type: "replica"}), ErrRefused)
	require.ErrorIs(t, c.SwitchOver(t.Context(), SwitchOverRequest{Name: "ef-1", EngineName: "e-1", Phase: "preparing"}), ErrRefused)
	require.Empty(t, s.created)
	require.Empty(t, s.switched)
}

func TestAFrontendMovesUnderItsOwnNameAndType(t *testing.T) {
	s := serve(t)
	require.NoError(t, s.connect(t, "v2", Options{}).SwitchOver(t.Context(),
		SwitchOverRequest{Name: "ef-1", EngineName: "e-2", TargetAddress: "10.0.0.2:20001", Phase: "switching"}))
	require.True(t, proto.Equal(&imrpc.InstanceSwitchOverTargetRequest{Name: "ef-1", Type: "engine-frontend",
		DataEngine: imrpc.DataEngine_DATA_ENGINE_V2,
		EngineName: "e-2", TargetAddress: "10.0.0.2:20001", SwitchoverPhase: "switching"}, s.switched[0]))
}

func TestADeletionWithoutAUUIDNeedsSomebodyWhoVouchesForTheName(t *testing.T) {
	s := serve(t)
	c := s.connect(t, "v2", Options{})
	require.ErrorIs(t, c.Delete(t.Context(), DeleteRequest{Name: "e-1", Type: "engine", DataEngine: "v2"}), ErrRefused)
	require.Empty(t, s.deleted)
	require.NoError(t, c.Delete(t.Context(), DeleteRequest{Name: "e-1", Type: "engine", DataEngine: "v2", ByName: true,
		CleanupRequired: true}))
	require.Len(t, s.deleted, 1)
}

func TestAFrontendsPathsAreRead(t *testing.T) {
	s := serve(t)
	e := entry("ef-1", "engine-frontend", "v2", "running", "")
	e.Status.ActivePath, e.Status.UblkId, e.Status.EngineName = "10.0.0.2:20001", 3, "e-1"
	e.Status.Paths = []*imrpc.EngineFrontendNvmeTcpPath{{EngineName: "e-1", TargetIp: "10.0.0.2", TargetPort: 20001, AnaState: "optimized",
		Nqn: "nqn", Nguid: "nguid"}}
	s.holds(map[string]*imrpc.InstanceResponse{"ef-1": e})
	list, err := s.connect(t, "v2", Options{}).List(t.Context(), CauseFresh, nil)
	require.NoError(t, err)
	want := &Frontend{EngineName: "e-1", ActivePath: "10.0.0.2:20001", UblkID: 3,
		Paths: []Path{{EngineName: "e-1", TargetIP: "10.0.0.2", TargetPort: 20001, ANAState: "optimized", NQN: "nqn", NGUID: "nguid"}}}
	require.Equal(t, want, list["ef-1"].Frontend)
	require.True(t, want.Equal(list["ef-1"].Frontend))
	require.False(t, want.Equal(nil))
}
