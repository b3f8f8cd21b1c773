//go:build !fast

package encrypted

import (
	"context"
	"crypto/tls"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/harness"
	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

const (
	near, far = scenarios.Near, scenarios.Far
	patience  = scenarios.Patience
)

// here is the one World of this test binary.
var here *world.World

func TestMain(m *testing.M) {
	harness.Main(m, world.Options{Nodes: scenarios.Nodes, Attach: true, Snapshots: true, TLS: true},
		func(_ context.Context, w *world.World) error { here = w; return nil })
}

// A volume is attached, written, rebuilt, moved and deleted; every call is made over mutual TLS.
func TestAVolumeLivesOverMutualTLS(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w := harness.Empty(t, here, 4*time.Minute), here
		name := world.Unique("encrypted")
		require.NoError(t, w.Order(ctx, name, engine, 2, nil))
		require.NoError(t, w.Attach(ctx, name, near, patience))
		require.NoError(t, w.WaitRobust(ctx, name, v1beta2.VolumeRobustnessHealthy, patience))
		require.NoError(t, w.Write(ctx, name, 1, "first"))
		replicas, err := w.ReplicasOf(ctx, name)
		require.NoError(t, err)
		require.NoError(t, w.KillInstance(ctx, replicas[0].Spec.NodeID, replicas[0].Name))
		require.NoError(t, w.WaitRobust(ctx, name, v1beta2.VolumeRobustnessDegraded, patience))
		require.NoError(t, w.WaitRobust(ctx, name, v1beta2.VolumeRobustnessHealthy, patience))
		require.NoError(t, w.Keeps(ctx, name, 1, "first"))
		require.NoError(t, w.LetGo(ctx, name, patience))
		require.NoError(t, w.Attach(ctx, name, far, patience))
		require.NoError(t, w.WaitRobust(ctx, name, v1beta2.VolumeRobustnessHealthy, patience))
		require.NoError(t, w.Keeps(ctx, name, 1, "first"))
		require.NoError(t, w.DeleteVolume(ctx, name))
		require.NoError(t, w.WaitVolumeGone(ctx, name, patience))
		require.NoError(t, w.Wait(ctx, "the end of its instances", patience, func(ctx context.Context) (string, error) {
			return w.InstancesOf(ctx, name)
		}))
	})
}

// An instance manager answers nobody who has no certificate: else the test above shows nothing.
func TestACallerWithoutACertificateIsRefused(t *testing.T) {
	harness.DataEngines(t, func(t *testing.T, engine string) {
		ctx, w := harness.Open(t, here, time.Minute), here
		address, err := w.AddressOf(ctx, w.InstanceManager(near, engine))
		require.NoError(t, err)
		for _, port := range []string{"8501", "8503"} {
			raw, err := (&net.Dialer{}).DialContext(ctx, "tcp", net.JoinHostPort(address, port))
			require.NoError(t, err)
			// The certificate of the server is of no interest here: the server is to refuse the caller.
			connection := tls.Client(raw, &tls.Config{InsecureSkipVerify: true, MinVersion: tls.VersionTLS13, NextProtos: []string{"h2"}})
			require.NoError(t, connection.SetDeadline(time.Now().Add(patience)))
			_, err = connection.Write([]byte("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"))
			require.NoError(t, err, "port %s speaks TLS", port)
			_, err = connection.Read(make([]byte, 1))
			require.ErrorContains(t, err, "certificate required", "port %s", port)
			require.NoError(t, raw.Close())
		}
	})
}
