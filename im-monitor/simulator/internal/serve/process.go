package serve

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	"drover.dev/drover/im-monitor/internal/rpc/common"
)

// processService is the older service of v1 processes, as far as it is served: its version.
type processService struct {
	common.UnimplementedProcessManagerServiceServer
}

// VersionGet reports the API versions.
func (s *processService) VersionGet(context.Context, *emptypb.Empty) (*common.VersionResponse, error) {
	return version(), nil
}

// version is what every service reports about the server.
func version() *common.VersionResponse {
	return &common.VersionResponse{Version: serverVersion, GitCommit: "simulated", BuildDate: "2026-08-01T00:00:00Z",
		InstanceManagerAPIVersion: apiVersion, InstanceManagerAPIMinVersion: apiMinVersion,
		InstanceManagerProxyAPIVersion: proxyAPIVersion, InstanceManagerProxyAPIMinVersion: proxyAPIMinVersion}
}
