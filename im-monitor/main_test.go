package main

import (
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
	"k8s.io/utils/clock"

	"drover.dev/drover/im-monitor/internal/flags"
	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/leaselock"
	"drover.dev/drover/shared/managerimage"
	"drover.dev/drover/shared/runkit"
)

// A process whose lease was not renewed in time may go on beside the next leader: nothing of it reaches the data plane. No instance
// manager is at the address, so that a call which is sent fails otherwise.
func TestAFencedProcessCallsNothingThatHasAnEffect(t *testing.T) {
	const nobody = "127.0.0.1"
	options := &flags.Options{}
	options.Add(pflag.NewFlagSet("im-monitor", pflag.ContinueOnError))
	rt := &runkit.Runtime{Fence: leaselock.NewFence(time.Hour, clock.RealClock{})}
	dialer, err := dial(rt, options)
	require.NoError(t, err)
	rt.Fence.Close()

	conn, err := dialer.Connect(nobody, v1beta2.DataEngineV1, managerimage.TLSEverywhere)
	require.NoError(t, err)
	defer conn.Close()
	proxy, err := dialer.Proxy(nobody)
	require.NoError(t, err)
	defer proxy.Close()
	target := imclient.Target{Address: nobody + ":10000", Engine: "vol-e-0", Volume: "vol", DataEngine: v1beta2.DataEngineV1}
	disk := imclient.DiskRef{}
	for what, err := range map[string]error{
		"the deletion of an instance": conn.Delete(t.Context(), imclient.DeleteRequest{Name: "vol-r-1", UUID: "uuid-1",
			DataEngine: v1beta2.DataEngineV1}),
		"the purge of an engine": proxy.PurgeSnapshots(t.Context(), target),
		"the release of a disk":  dialer.DeleteDisk(t.Context(), nobody, disk),
	} {
		require.ErrorContains(t, err, "was not sent: "+leaselock.ErrFenced.Error(), what)
	}
	_, err = conn.Version(t.Context())
	require.ErrorIs(t, err, imclient.ErrUnreachable)
	require.NotContains(t, err.Error(), "was not sent", "what only reads is tried")
}
