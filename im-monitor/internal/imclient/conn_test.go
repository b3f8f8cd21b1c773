package imclient

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/stretchr/testify/require"
	"google.golang.org/grpc"
	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/encoding"
	"google.golang.org/grpc/mem"
	"google.golang.org/grpc/status"

	"drover.dev/drover/im-monitor/internal/rpc/common"
	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/internal/rpc/spdkrpc"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/managerimage"
)

func TestTheVersionIsReadAndCompared(t *testing.T) {
	s := serve(t)
	version, err := s.connect(t, v1beta2.DataEngineV1, Options{}).Version(t.Context())
	require.NoError(t, err)
	require.Equal(t, Version{Version: "v1.12.0", APIVersion: 7, APIMinVersion: 1}, version)

	for _, c := range []struct {
		name         string
		api, minimum int64
		fits         bool
	}{
		{"newer, but still speaks to us", 9, 7, true},
		{"older, within what we speak", 1, 1, true},
		{"too new", 12, 8, false},
		{"no version at all", 0, 0, false},
		{"nonsense", -3, 1, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := Version{Version: "v9", APIVersion: c.api, APIMinVersion: c.minimum}.Check()
			require.Equal(t, c.fits, err == nil)
			if !c.fits {
				require.ErrorIs(t, err, ErrUnsupported)
				require.ErrorContains(t, err, "the server \"v9\" speaks API versions")
				require.ErrorContains(t, err, "this client 1 to 7")
			}
		})
	}

	s.version = &common.VersionResponse{InstanceManagerAPIVersion: 12, InstanceManagerAPIMinVersion: 8}
	_, err = s.connect(t, v1beta2.DataEngineV1, Options{}).Version(t.Context())
	require.ErrorIs(t, err, ErrUnsupported)
}

func TestAV1ListIsOneCall(t *testing.T) {
	s := serve(t)
	s.holds(map[string]*imrpc.InstanceResponse{
		"v-e-0": entry("v-e-0", "engine", "v1", "running", "u1"),
		"v-r-0": {Spec: &imrpc.InstanceSpec{Name: "v-r-0", Type: "replica"}, Status: &imrpc.InstanceStatus{State: "error",
			ErrorMsg: strings.Repeat("ä", 1000), PortStart: 10000, PortEnd: 10009}},
	})
	list, err := s.connect(t, v1beta2.DataEngineV1, Options{}).List(t.Context(), CauseEvent, nil)
	require.NoError(t, err)
	require.Equal(t, map[string]Instance{
		"v-e-0": {Name: "v-e-0", Type: "engine", DataEngine: "v1", State: "running", UUID: "u1", UUIDSource: UUIDFromInstanceStatus},
		"v-r-0": {Name: "v-r-0", Type: "replica", DataEngine: "v1", State: "error", ErrorMsg: strings.Repeat("ä", 512),
			PortStart: 10000, PortEnd: 10009},
	}, list)
	require.Equal(t, []string{"InstanceList"}, s.called())
}

func TestAV2ListIsJoinedWithSPDKWhereItLeavesSomethingOpen(t *testing.T) {
	s := serve(t)
	s.replicas = map[string]*spdkrpc.Replica{
		"r-1":    {LvsUuid: "disk", Head: &spdkrpc.Lvol{Uuid: "head-1"}},
		"r-2":    {LvsUuid: "disk", Head: &spdkrpc.Lvol{Uuid: "head-2"}},
		"r-3":    {LvsUuid: "disk"},
		"e-1":    {LvsUuid: "an engine is no replica"},
		"nobody": {LvsUuid: "not listed"},
	}
	s.engines = map[string]*spdkrpc.Engine{"e-1": {ReplicaAddressMap: map[string]string{"r-1": "10.0.0.2:20001"}}, "e-2": {}}
	conn := s.connect(t, v1beta2.DataEngineV2, Options{})
	_, err := conn.Version(t.Context())
	require.NoError(t, err)

	empty, err := conn.List(t.Context(), CauseReconnect, nil)
	require.NoError(t, err)
	require.Empty(t, empty)
	require.Equal(t, []string{"InstanceList"}, s.called(), "nothing is open")

	s.holds(map[string]*imrpc.InstanceResponse{
		"r-1": entry("r-1", "replica", "v2", "stopped", ""),
		"r-2": entry("r-2", "replica", "v2", "running", "status-2"),
		"r-3": entry("r-3", "replica", "v2", "pending", ""),
		"e-1": entry("e-1", "engine", "v2", "running", ""),
		"e-2": entry("e-2", "engine", "v2", "running", ""),
		"e-3": entry("e-3", "engine", "v2", "running", ""),
		"f-1": entry("f-1", "engine-frontend", "v2", "running", ""),
	})
	list, err := conn.List(t.Context(), CauseEvent, known(empty))
	require.NoError(t, err)
	require.Equal(t, map[string]Instance{
		"r-1": {Name: "r-1", Type: "replica", DataEngine: "v2", State: "stopped", UUID: "head-1", UUIDSource: UUIDFromHeadLvol,
			DiskUUID: "disk"},
		"r-2": {Name: "r-2", Type: "replica", DataEngine: "v2", State: "running", UUID: "status-2", UUIDSource: UUIDFromInstanceStatus,
			DiskUUID: "disk"},
		"r-3": {Name: "r-3", Type: "replica", DataEngine: "v2", State: "pending", DiskUUID: "disk"},
		"e-1": {Name: "e-1", Type: "engine", DataEngine: "v2", State: "running", Replicas: map[string]string{"r-1": "10.0.0.2:20001"}},
		"e-2": {Name: "e-2", Type: "engine", DataEngine: "v2", State: "running", Replicas: map[string]string{}},
		"e-3": {Name: "e-3", Type: "engine", DataEngine: "v2", State: "running"},
		"f-1": {Name: "f-1", Type: "engine-frontend", DataEngine: "v2", State: "running", Frontend: &Frontend{}},
	}, list)
	require.Equal(t, []string{"InstanceList", "ReplicaList", "EngineList"}, s.called())
}

func TestAConformingV2ServerIsAskedForDisksOnlyOnce(t *testing.T) {
	s := serve(t)
	s.replicas = map[string]*spdkrpc.Replica{"r-1": {LvsUuid: "disk", Head: &spdkrpc.Lvol{Uuid: "u1"}}}
	conn := s.connect(t, v1beta2.DataEngineV2, Options{})
	s.holds(map[string]*imrpc.InstanceResponse{"r-1": entry("r-1", "replica", "v2", "running", "u1")})
	first, err := conn.List(t.Context(), CauseReconnect, nil)
	require.NoError(t, err)
	s.called()
	second, err := conn.List(t.Context(), CauseEvent, known(first))
	require.NoError(t, err)
	require.Equal(t, first, second)
	require.Equal(t, []string{"InstanceList"}, s.called())

	s.holds(map[string]*imrpc.InstanceResponse{"r-1": entry("r-1", "replica", "v2", "running", "u2")})
	_, err = conn.List(t.Context(), CauseEvent, known(first))
	require.NoError(t, err)
	require.Equal(t, []string{"InstanceList", "ReplicaList"}, s.called(), "another replica may lie on another disk")
}

func TestStrangeAnswersAreErrorsOrKeptAsTheyAre(t *testing.T) {
	t.Run("unknown words are kept, nil parts are empty", func(t *testing.T) {
		s := serve(t)
		strange := entry("x", "juggler", "v1", "levitating", "u")
		strange.Spec.DataEngine = 7
		s.holds(map[string]*imrpc.InstanceResponse{"x": strange, "y": {}, "z": nil})
		list, err := s.connect(t, v1beta2.DataEngineV1, Options{}).List(t.Context(), CauseEvent, nil)
		require.NoError(t, err)
		require.Equal(t, Instance{Name: "x", Type: "juggler", DataEngine: "7", State: "levitating", UUID: "u",
			UUIDSource: UUIDFromInstanceStatus}, list["x"])
		require.Equal(t, Instance{Name: "y", DataEngine: "v1"}, list["y"])
		require.Contains(t, list, "z")
	})
	t.Run("an entry under another's name makes the list worthless", func(t *testing.T) {
		s := serve(t)
		s.holds(map[string]*imrpc.InstanceResponse{"x": entry("y", "engine", "v1", "running", "u")})
		_, err := s.connect(t, v1beta2.DataEngineV1, Options{}).List(t.Context(), CauseEvent, nil)
		require.ErrorIs(t, err, ErrMalformed)
	})
	t.Run("an entry without a name makes the list worthless", func(t *testing.T) {
		s := serve(t)
		s.holds(map[string]*imrpc.InstanceResponse{"": {}})
		_, err := s.connect(t, v1beta2.DataEngineV1, Options{}).List(t.Context(), CauseEvent, nil)
		require.ErrorIs(t, err, ErrMalformed)
	})
	t.Run("more than the limit is an error, never a part of a list", func(t *testing.T) {
		s := serve(t)
		s.holds(map[string]*imrpc.InstanceResponse{"x": {Status: &imrpc.InstanceStatus{ErrorMsg: strings.Repeat("x", 2000)}}})
		_, err := s.connect(t, v1beta2.DataEngineV1, Options{MaxMessageBytes: 1000}).List(t.Context(), CauseEvent, nil)
		require.ErrorIs(t, err, ErrTooLarge)
		require.ErrorContains(t, err, "InstanceList at 10.0.0.1")
	})
	t.Run("bytes that are no message are an error", func(t *testing.T) {
		s := serve(t, grpc.ForceServerCodecV2(garbage{encoding.GetCodecV2("proto")}))
		_, err := s.connect(t, v1beta2.DataEngineV1, Options{}).List(t.Context(), CauseEvent, nil)
		require.ErrorIs(t, err, ErrFailed)
	})
}

// garbage answers every call with bytes that are no message.
type garbage struct{ encoding.CodecV2 }

func (garbage) Marshal(any) (mem.BufferSlice, error) {
	return mem.BufferSlice{mem.SliceBuffer("\xff\xff garbage \x00")}, nil
}

func TestAServerThatHangsCostsADeadline(t *testing.T) {
	s := serve(t)
	s.list = func(ctx context.Context) (*imrpc.InstanceListResponse, error) {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	_, err := s.connect(t, v1beta2.DataEngineV1, Options{ListTimeout: 20 * time.Millisecond}).List(t.Context(), CauseEvent, nil)
	require.ErrorIs(t, err, ErrUnreachable)
	// Whoever notices first, the client's timer or the server that was reported of it, the code is the same.
	require.Equal(t, codes.DeadlineExceeded, status.Code(err))
}

func TestDeleteSaysExactlyWhatShallGo(t *testing.T) {
	s := serve(t)
	conn := s.connect(t, v1beta2.DataEngineV1, Options{})
	require.NoError(t, conn.Delete(t.Context(), DeleteRequest{Name: "r-1", Type: "replica", DataEngine: "v2", UUID: "u1", DiskUUID: "d",
		CleanupRequired: true}))
	require.Len(t, s.deleted, 1)
	sent := s.deleted[0]
	require.Equal(t, []any{"r-1", "replica", imrpc.DataEngine_DATA_ENGINE_V2, "u1", "d", true},
		[]any{sent.Name, sent.Type, sent.DataEngine, sent.Uuid, sent.DiskUuid, sent.CleanupRequired})

	require.ErrorIs(t, conn.Delete(t.Context(), DeleteRequest{Name: "r-1"}), ErrRefused)
	require.ErrorIs(t, conn.Delete(t.Context(), DeleteRequest{UUID: "u1"}), ErrRefused)
	require.Len(t, s.deleted, 1, "ORP-3: nothing goes out without name and UUID")
}

func TestErrorsHaveKinds(t *testing.T) {
	for code, kind := range map[codes.Code]error{
		codes.NotFound: ErrNotFound, codes.FailedPrecondition: ErrRefused, codes.Unavailable: ErrUnreachable,
		codes.Unimplemented:    ErrUnsupported,
		codes.DeadlineExceeded: ErrUnreachable, codes.Internal: ErrFailed, codes.Unknown: ErrFailed, codes.ResourceExhausted: ErrTooLarge,
	} {
		t.Run(code.String(), func(t *testing.T) {
			s := serve(t)
			s.deletion = status.Error(code, "because")
			err := s.connect(t, v1beta2.DataEngineV1, Options{}).Delete(t.Context(), DeleteRequest{Name: "r", UUID: "u"})
			require.ErrorIs(t, err, kind)
			require.ErrorContains(t, err, "InstanceDelete at 10.0.0.1")
			var typed *CallError
			require.ErrorAs(t, err, &typed)
		})
	}
	s := serve(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := s.connect(t, v1beta2.DataEngineV1, Options{}).List(ctx, CauseFresh, nil)
	require.ErrorIs(t, err, context.Canceled, "the caller's own cancellation stays visible")
}

func TestTheWatchTellsOfNoticesAndOfItsEnd(t *testing.T) {
	s := serve(t)
	conn := s.connect(t, v1beta2.DataEngineV1, Options{})
	watch, err := conn.Watch(t.Context())
	require.NoError(t, err)
	s.notices <- struct{}{}
	require.NoError(t, watch.Next())
	close(s.notices)
	require.ErrorIs(t, watch.Next(), ErrUnreachable)

	other := serve(t).connect(t, v1beta2.DataEngineV1, Options{})
	watch, err = other.Watch(t.Context())
	require.NoError(t, err)
	require.NoError(t, other.Close())
	require.ErrorIs(t, watch.Next(), ErrUnreachable)
}

func TestALostConnectionIsNeverMadeAgain(t *testing.T) {
	s := serve(t)
	cut := make(chan func() error, 2)
	conn := s.connect(t, v1beta2.DataEngineV1, Options{Dial: cutting(s, cut)})
	_, err := conn.Version(t.Context())
	require.NoError(t, err)
	watch, err := conn.Watch(t.Context())
	require.NoError(t, err)
	require.NoError(t, (<-cut)())
	require.ErrorIs(t, watch.Next(), ErrUnreachable)
	for range 3 {
		_, err = conn.List(t.Context(), CauseEvent, nil)
		require.ErrorIs(t, err, ErrUnreachable)
	}
	require.Equal(t, 1, s.dials)
}

func TestAV2ConnectionNeedsBothServices(t *testing.T) {
	s := serve(t)
	delete(s.listeners, "10.0.0.1:8504")
	_, err := s.connect(t, v1beta2.DataEngineV2, Options{}).Version(t.Context())
	require.ErrorIs(t, err, ErrUnreachable)
	require.ErrorContains(t, err, "8504")
	_, err = s.connect(t, v1beta2.DataEngineV1, Options{}).Version(t.Context())
	require.NoError(t, err)
}

func TestNobodyThereIsUnreachable(t *testing.T) {
	s := serve(t)
	clear(s.listeners)
	_, err := s.connect(t, v1beta2.DataEngineV1, Options{}).Version(t.Context())
	require.ErrorIs(t, err, ErrUnreachable)
	var typed *CallError
	require.True(t, errors.As(err, &typed))
}

func TestAnAddressMustBeOne(t *testing.T) {
	for _, address := range []string{"", "localhost", "10.0.0.1:8503"} {
		_, err := NewDialer(Options{}).Connect(address, v1beta2.DataEngineV1, managerimage.TLSEverywhere)
		require.Error(t, err, address)
	}
}

func TestALongReasonIsCut(t *testing.T) {
	s := serve(t)
	s.deletion = status.Error(codes.Internal, strings.Repeat("nested ", 2000))
	err := s.connect(t, v1beta2.DataEngineV1, Options{}).Delete(t.Context(), DeleteRequest{Name: "r", UUID: "u"})
	require.ErrorIs(t, err, ErrFailed)
	require.Less(t, len(err.Error()), 1200)
	s.deletion = status.Error(codes.Internal, strings.Repeat("endless ", 20000))
	require.Error(t, s.connect(t, v1beta2.DataEngineV1, Options{}).Delete(t.Context(), DeleteRequest{Name: "r", UUID: "u"}))
}

func TestCallsAreCounted(t *testing.T) {
	registry := prometheus.NewPedanticRegistry()
	s := serve(t)
	conn := s.connect(t, v1beta2.DataEngineV1, Options{Metrics: NewMetrics(registry)})
	_, err := conn.List(t.Context(), CauseSafety, nil)
	require.NoError(t, err)
	s.deletion = status.Error(codes.NotFound, "no")
	require.Error(t, conn.Delete(t.Context(), DeleteRequest{Name: "r", UUID: "u"}))
	require.NoError(t, testutil.GatherAndCompare(registry, strings.NewReader(`
# HELP drover_im_monitor_calls_total Calls to instance managers, by method and gRPC code; a stream counts when it is opened.
# TYPE drover_im_monitor_calls_total counter
drover_im_monitor_calls_total{code="NotFound",method="InstanceDelete"} 1
drover_im_monitor_calls_total{code="OK",method="InstanceList"} 1
# HELP drover_im_monitor_connections Connections to instance managers that are open or being made.
# TYPE drover_im_monitor_connections gauge
drover_im_monitor_connections 1
# HELP drover_im_monitor_lists_total Whole lists read, by cause: event, reconnect, safety, fresh, follow-up.
# TYPE drover_im_monitor_lists_total counter
drover_im_monitor_lists_total{cause="safety"} 1
`), "drover_im_monitor_calls_total", "drover_im_monitor_connections", "drover_im_monitor_lists_total"))
	require.NoError(t, conn.Close())
	require.NoError(t, conn.Close(), "closing again does nothing")
	require.Zero(t, testutil.ToFloat64(conn.options.Metrics.connections))
}

// known is a list as the one before.
func known(list map[string]Instance) Known {
	return func(name string) (Instance, bool) {
		instance, ok := list[name]
		return instance, ok
	}
}
