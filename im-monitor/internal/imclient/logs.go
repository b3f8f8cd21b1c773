package imclient

import (
	"context"

	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
)

// Logs has the levels at which an instance manager logs.
type Logs struct {
	// Level is for the instance manager itself.
	Level string
	// SPDKLevel and SPDKFlags are for the v2 data engine. With an empty level it is not asked; empty flags clear all flags.
	SPDKLevel, SPDKFlags string
}

// SetLogs asks the server to log at these levels. The server forgets them when it ends. Each call may be repeated; after an error some of
// them may have been obeyed.
func (c *Conn) SetLogs(ctx context.Context, logs Logs) error {
	ctx, cancel := c.listContext(ctx)
	defer cancel()
	service := imrpc.NewInstanceServiceClient(c.instances)
	// The level of data engine v1 is the level of the server itself, also of a v2 server.
	_, err := service.LogSetLevel(ctx, &imrpc.LogSetLevelRequest{DataEngine: imrpc.DataEngine_DATA_ENGINE_V1, Level: logs.Level})
	if err != nil || logs.SPDKLevel == "" {
		return c.failed(ctx, "LogSetLevel", err)
	}
	_, err = service.LogSetLevel(ctx, &imrpc.LogSetLevelRequest{DataEngine: imrpc.DataEngine_DATA_ENGINE_V2, Level: logs.SPDKLevel})
	if err != nil {
		return c.failed(ctx, "LogSetLevel", err)
	}
	_, err = service.LogSetFlags(ctx, &imrpc.LogSetFlagsRequest{DataEngine: imrpc.DataEngine_DATA_ENGINE_V2, Flags: logs.SPDKFlags})
	return c.failed(ctx, "LogSetFlags", err)
}
