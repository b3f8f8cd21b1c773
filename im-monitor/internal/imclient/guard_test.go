package imclient

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"google.golang.org/grpc"

	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/internal/rpc/spdkrpc"
	"drover.dev/drover/shared/api/v1beta2"
)

func TestAProcessThatMayNotCallReadsOnly(t *testing.T) {
	s := serve(t)
	allowed := error(nil)
	conn := s.connect(t, v1beta2.DataEngineV1, Options{MayCall: func() error { return allowed }})
	request := DeleteRequest{Name: "vol-r-1", UUID: "uuid-1", DataEngine: v1beta2.DataEngineV1}
	require.NoError(t, conn.Delete(t.Context(), request))

	allowed = errors.New("the lease is too old")
	err := conn.Delete(t.Context(), request)
	require.ErrorIs(t, err, ErrUnreachable)
	require.ErrorContains(t, err, "was not sent: the lease is too old")
	require.Len(t, s.deleted, 1)
	_, err = conn.List(t.Context(), "", nil)
	require.NoError(t, err)
}

// Every method of the API counts as a call with an effect, or as one without, as its name reports.
func TestMethodsWithoutAnEffectAreThoseThatRead(t *testing.T) {
	var effects []string
	for _, service := range []grpc.ServiceDesc{imrpc.InstanceService_ServiceDesc, imrpc.ProxyEngineService_ServiceDesc,
		imrpc.DiskService_ServiceDesc,
		spdkrpc.SPDKService_ServiceDesc} {
		for _, method := range service.Methods {
			if !reads(method.MethodName) {
				effects = append(effects, method.MethodName)
			}
		}
	}
	for _, method := range []string{"InstanceCreate", "InstanceDelete", "InstanceSwitchOverTarget", "ReplicaAdd", "ReplicaRemove",
		"SnapshotPurge", "VolumeExpand", "SnapshotBackup"} {
		require.Contains(t, effects, method)
	}
	for _, method := range effects {
		require.NotRegexp(t, "^(Version|Instance(List|Get|Watch|Log)|ReplicaList|EngineList|DiskGet)", method)
	}
}
