package instance

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

func TestTheStatusOfARunningInstanceHasItsAddress(t *testing.T) {
	begun := status(Status{State: starting, Starting: true, InstanceManager: im})
	where := Status{State: running, Started: true, InstanceManager: im, Image: "image:v1", IP: "10.0.0.1", StorageIP: "10.0.0.1",
		Port: 10010, UUID: "u-1"}
	with := func(f func(*Status)) Status { s := where; f(&s); return s }
	paths := []v1beta2.NvmeTCPPath{{TargetIP: "10.0.0.9", TargetPort: 20001, ANAState: anaOptimized, EngineName: "vol-e-0"}}
	frontendEntry := func(w *World) {
		w.Here.Entry = &Entry{State: running, Endpoint: "/dev/longhorn/vol", ActivePath: "10.0.0.9:20001", PreferredPath: "10.0.0.9:20001",
			Paths: paths}
	}
	salvage := func(w *World) { w.Object.SalvageRequested = true }
	for _, c := range []struct {
		name  string
		world World
		want  Status
	}{
		{"a replica", world(wanted, asReplica, begun, lists(running)), where},
		{"a v1 engine's device carries the volume's name", world(wanted, begun, lists(running)),
			with(func(s *Status) { s.Endpoint = "/dev/longhorn/vol" })},
		{"a v1 iSCSI target, too", world(wanted, begun, lists(running), func(w *World) { w.Object.Frontend = "iscsi" }),
			with(func(s *Status) { s.Endpoint = "iscsi://10.0.0.1:3260/iqn.2019-10.io.longhorn:vol/1" })},
		{"a v1 engine without a frontend shows nothing",
			world(wanted, begun, lists(running), func(w *World) { w.Object.DisableFrontend = true }), where},
		{"an engine that was created to salvage has salvaged", world(wanted, v2, begun, lists(running), salvage),
			with(func(s *Status) { s.SalvageExecuted = true })},
		{"one that ran before the request has not", world(wanted, v2, status(where), lists(running), salvage), where},
		{"a new image in the spec is not the running one", world(wanted, asReplica, status(where), lists(running),
			func(w *World) { w.Object.Image = "image:v2" }), where},
		{"a v2 engine has the image of its instance manager",
			world(wanted, v2, status(where), lists(running), func(w *World) { w.Here.Image = "im:v2" }),
			with(func(s *Status) { s.Image = "im:v2" })},
		{"a frontend", world(wanted, asFrontend, begun, frontendEntry),
			Status{State: running, Started: true, InstanceManager: im, Image: "image:v1", IP: "10.0.0.1",
				StorageIP: "10.0.0.1", Endpoint: "/dev/longhorn/vol", ActivePath: "10.0.0.9:20001", PreferredPath: "10.0.0.9:20001",
				Paths:    paths,
				TargetIP: "10.0.0.9", TargetPort: 20001, Size: 1 << 30}},
		{"a frontend follows its engine's size", world(wanted, asFrontend, begun, frontendEntry, func(w *World) { w.EngineSize = 2 << 30 }),
			Status{State: running, Started: true,
				InstanceManager: im, Image: "image:v1", IP: "10.0.0.1", StorageIP: "10.0.0.1", Endpoint: "/dev/longhorn/vol",
				ActivePath:    "10.0.0.9:20001",
				PreferredPath: "10.0.0.9:20001", Paths: paths, TargetIP: "10.0.0.9", TargetPort: 20001, Size: 2 << 30}},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, Decide(c.world).Status) })
	}
}
