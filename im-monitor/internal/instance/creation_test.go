package instance

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestInstancesAreCreatedInTheWordsOfTheContract(t *testing.T) {
	stop := status(stopped(""))
	for _, c := range []struct {
		name  string
		world World
		want  Creation
	}{
		{"a v1 replica", world(wanted, stop, asReplica), Creation{PortCount: 10, PortArgs: []string{"--listen,:"},
			Binary: "/host/var/lib/longhorn/engine-binaries/image-v1/longhorn",
			Args: []string{"--volume-name", "vol", "replica", "/host/var/lib/longhorn/replicas/vol-abc", "--size", "1073741824",
				"--replica-instance-name", "vol-r-1", "--snapshot-max-count", "250", "--snapshot-max-size", "0", "--sync-agent-port-count",
				"7"}}},
		{"a v1 replica that counts no revisions",
			world(wanted, stop, asReplica, func(w *World) { w.Object.RevisionCounterDisabled = true }), Creation{PortCount: 10,
				PortArgs: []string{"--listen,:"}, Binary: "/host/var/lib/longhorn/engine-binaries/image-v1/longhorn",
				Args: []string{"--volume-name", "vol", "replica", "/host/var/lib/longhorn/replicas/vol-abc", "--size", "1073741824",
					"--disableRevCounter",
					"--replica-instance-name", "vol-r-1", "--snapshot-max-count", "250", "--snapshot-max-size", "0",
					"--sync-agent-port-count",
					"7"}}},
		{"a v1 engine", world(wanted, stop, func(w *World) {
			w.Object.Image = "registry.example/longhornio/longhorn-engine:v1.10.0"
			w.Object.Engine.Replicas = map[string]string{"vol-r-b": "10.0.0.3:10020", "vol-r-a": "10.0.0.2:10010"}
		}), Creation{PortCount: 1, PortArgs: []string{"--listen,:"},
			Binary: "/engine-binaries/registry.example-longhornio-longhorn-engine-v1.10.0/longhorn",
			Args: []string{"--engine-instance-name", "vol-e-0", "controller", "vol", "--frontend", "tgt-blockdev", "--size", "1073741824",
				"--current-size", "0", "--engine-replica-timeout", "8", "--file-sync-http-client-timeout", "30", "--snapshot-max-count",
				"250",
				"--snapshot-max-size", "0", "--rebuild-sync-concurrent-limit", "1", "--replica", "tcp://10.0.0.2:10010", "--replica",
				"tcp://10.0.0.3:10020"}}},
		{"a v1 engine with everything", world(wanted, stop, func(w *World) {
			o := &w.Object
			o.DisableFrontend, o.RevisionCounterDisabled, o.SalvageRequested, o.SnapshotMaxCount, o.SnapshotMaxSize = true, true, true, 7, 9
			o.Engine.UnmapMarkRemoved, o.Engine.CurrentSize, o.Engine.RebuildConcurrency = true, 5, 3
		}), Creation{PortCount: 1, PortArgs: []string{"--listen,:"}, Binary: "/engine-binaries/image-v1/longhorn",
			Args: []string{"--engine-instance-name", "vol-e-0", "controller", "vol", "--frontend", "", "--disableRevCounter",
				"--salvageRequested",
				"--size", "1073741824", "--current-size", "5", "--engine-replica-timeout", "8", "--file-sync-http-client-timeout", "30",
				"--unmap-mark-snap-chain-removed", "--snapshot-max-count", "7", "--snapshot-max-size", "9",
				"--rebuild-sync-concurrent-limit", "3",
				"--replica", "tcp://10.0.0.9:10000"}}},
		{"a v2 replica", world(wanted, stop, v2, asReplica),
			Creation{PortCount: 5, SPDK: &SPDK{DiskName: "disk-1", DiskUUID: "disk-uuid", Size: 1 << 30, SnapshotMaxCount: 250}}},
		{"a v2 engine has the frontend of its engine-frontend", world(wanted, stop, v2), Creation{PortCount: 1, SPDK: &SPDK{
			Replicas: map[string]string{"vol-r-1": "10.0.0.9:10000"}, Size: 1 << 30, Frontend: "spdk-tcp-blockdev",
			SnapshotMaxCount: 250}}},
		{"a v2 engine without a frontend exports nothing", world(wanted, stop, v2, func(w *World) { w.Object.DisableFrontend = true }),
			Creation{PortCount: 1, SPDK: &SPDK{
				Replicas: map[string]string{"vol-r-1": "10.0.0.9:10000"}, Size: 1 << 30, SnapshotMaxCount: 250}}},
		{"a frontend", world(wanted, stop, asFrontend, func(w *World) { w.Object.Frontend = "nvmf" }),
			Creation{PortCount: 1, EngineName: "vol-e-0",
				TargetAddress: "10.0.0.9:20001", SPDK: &SPDK{Size: 1 << 30, Frontend: "spdk-tcp-nvmf"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := Decide(c.world)
			require.Equal(t, OpCreate, v.Call.Op)
			require.Equal(t, &c.want, v.Call.Create)
			require.Equal(t, Status{State: starting, Starting: true, InstanceManager: im}, v.Call.Ahead)
		})
	}
}
