package serve

import (
	"cmp"
	"context"
	"sync"

	"google.golang.org/protobuf/types/known/emptypb"

	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
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

// LogSetLevel sets the level at which a data engine logs.
func (s *instanceService) LogSetLevel(ctx context.Context, in *imrpc.LogSetLevelRequest) (*emptypb.Empty, error) {
	return onLog(ctx, func(l *logSettings) { l.set(l.levels, in.GetDataEngine(), in.GetLevel()) })
}

// LogSetFlags sets which parts of a data engine log.
func (s *instanceService) LogSetFlags(ctx context.Context, in *imrpc.LogSetFlagsRequest) (*emptypb.Empty, error) {
	return onLog(ctx, func(l *logSettings) { l.set(l.flags, in.GetDataEngine(), in.GetFlags()) })
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
