package enginecontroller

import (
	"context"
	"fmt"

	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/im-monitor/internal/imclient"
)

// setLimit sets one limit of a running engine.
func setLimit(ctx context.Context, t target, proxy *imclient.Proxy, call engine.Call) error {
	switch call.Op {
	case engine.OpMaxCount:
		return proxy.SetSnapshotMaxCount(ctx, t.Target, int(call.Limit))
	case engine.OpMaxSize:
		return proxy.SetSnapshotMaxSize(ctx, t.Target, call.Limit)
	case engine.OpUnmapMark:
		return proxy.SetUnmapMark(ctx, t.Target, call.On)
	case engine.OpRebuildLimit:
		return proxy.SetRebuildLimit(ctx, t.Target, int(call.Limit))
	}
	return fmt.Errorf("call %s is not known", call.Op)
}
