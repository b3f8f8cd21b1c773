package serve

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"sync"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/shared/api/v1beta2"
)

// logSettings are what a server's process logs, by data engine. They end with the process.
type logSettings struct {
	mu            sync.Mutex
	levels, flags map[imrpc.DataEngine]string
}

func newLogSettings() *logSettings {
	return &logSettings{levels: map[imrpc.DataEngine]string{}, flags: map[imrpc.DataEngine]string{}}
}

// set changes one of the two maps.
func (l *logSettings) set(in map[imrpc.DataEngine]string, engine imrpc.DataEngine, value string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	in[engine] = value
}

// get reads one of the two maps.
func (l *logSettings) get(from map[imrpc.DataEngine]string, engine imrpc.DataEngine) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return from[engine]
}

// ownLevels are the words that an instance manager knows for its own level, spdkLevels those of SPDK.
var (
	ownLevels = map[string]string{"panic": "panic", "fatal": "fatal", "error": "error", "warn": "warning", "warning": "warning",
		"info": "info", "debug": "debug", "trace": "trace"}
	spdkLevels = map[string]bool{"ERROR": true, "WARNING": true, "NOTICE": true, "INFO": true, "DEBUG": true}
)

// LogSetLevel sets the level of the manager itself, or of SPDK if it is asked for data engine v2. An unknown level is refused.
func (s *instanceService) LogSetLevel(ctx context.Context, in *imrpc.LogSetLevelRequest) (*emptypb.Empty, error) {
	engine, level := in.GetDataEngine(), strings.ToUpper(in.GetLevel())
	if engine == imrpc.DataEngine_DATA_ENGINE_V2 {
		if err := withSPDK(ctx); err != nil {
			return nil, err
		}
		if !spdkLevels[level] {
			return nil, status.Error(codes.Internal, "failed to set v2 data engine log level: Invalid parameters")
		}
	} else if level = ownLevels[strings.ToLower(level)]; level == "" {
		return nil, status.Errorf(codes.Unknown, "not a valid logrus Level: %q", in.GetLevel())
	}
	return onLog(ctx, func(l *logSettings) { l.set(l.levels, engine, level) })
}

// LogSetFlags sets which parts of SPDK log: what it does not know has no effect, and all must stand alone. Data engine v1 has none.
func (s *instanceService) LogSetFlags(ctx context.Context, in *imrpc.LogSetFlagsRequest) (*emptypb.Empty, error) {
	if in.GetDataEngine() != imrpc.DataEngine_DATA_ENGINE_V2 {
		return &emptypb.Empty{}, nil
	}
	if err := withSPDK(ctx); err != nil {
		return nil, err
	}
	wanted := strings.Split(in.GetFlags(), ",")
	if slices.Contains(wanted, "all") && len(wanted) > 1 {
		return nil, status.Error(codes.Internal, "failed to set log flags: Invalid parameters")
	}
	var set []string
	for _, flag := range spdkFlags {
		if slices.Contains(wanted, flag) || wanted[0] == "all" {
			set = append(set, flag)
		}
	}
	return onLog(ctx, func(l *logSettings) { l.set(l.flags, in.GetDataEngine(), strings.Join(set, ",")) })
}

// spdkFlags are some of the parts of SPDK that log.
var spdkFlags = []string{"aio", "bdev", "bdev_nvme", "blob", "lvol", "nvme", "nvmf", "nvmf_tcp", "vbdev_lvol"}

// withSPDK returns the answer of a server without SPDK.
func withSPDK(ctx context.Context) error {
	e, err := endpointOf(ctx)
	if err == nil && e.server.DataEngine() != v1beta2.DataEngineV2 {
		err = status.Error(codes.Internal, "failed to reach SPDK: connection refused")
	}
	return err
}

// LogGetLevel reports the level of the manager itself, also of a server of data engine v2, whose LogSetLevel sets that of SPDK.
func (s *instanceService) LogGetLevel(ctx context.Context, _ *imrpc.LogGetLevelRequest) (*imrpc.LogGetLevelResponse, error) {
	out := &imrpc.LogGetLevelResponse{}
	_, err := onLog(ctx, func(l *logSettings) {
		out.Level = cmp.Or(l.get(l.levels, imrpc.DataEngine_DATA_ENGINE_V1), "info")
	})
	return out, err
}

// LogGetFlags reports the parts.
func (s *instanceService) LogGetFlags(ctx context.Context, in *imrpc.LogGetFlagsRequest) (*imrpc.LogGetFlagsResponse, error) {
	out := &imrpc.LogGetFlagsResponse{}
	_, err := onLog(ctx, func(l *logSettings) { out.Flags = l.get(l.flags, in.GetDataEngine()) })
	return out, err
}

func onLog(ctx context.Context, do func(*logSettings)) (*emptypb.Empty, error) {
	e, err := endpointOf(ctx)
	if err != nil {
		return nil, err
	}
	do(e.log)
	return &emptypb.Empty{}, nil
}
