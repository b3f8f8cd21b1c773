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

func TestAStatusKeepsWhatANewListDoesNotReport(t *testing.T) {
	before := was(running)
	before.Image, before.SalvageExecuted, before.TargetIP, before.TargetPort, before.Size = "image:v0", true, "10.0.0.8", 20001, 3<<30
	seen := func(changes ...change) Status {
		return Decide(world(append([]change{wanted, status(before), lists(running)}, changes...)...)).Status
	}
	require.Equal(t, "10.0.0.1", seen(func(w *World) { w.Here.IP = "" }).IP, "an instance manager without an IP moved nothing")
	require.Equal(t, "10.0.0.2", seen(func(w *World) { w.Here.IP = "10.0.0.2" }).StorageIP)
	require.Equal(t, "image:v0", seen(func(w *World) { w.Here.Image = "im:v2" }).Image, "a v1 process is not its instance manager's image")
	require.False(t, seen().SalvageExecuted, "no salvage is requested any more")
	require.True(t, seen(func(w *World) { w.Object.SalvageRequested = true }).SalvageExecuted)
	require.Equal(t, "/dev/x", seen(func(w *World) { w.Here.Entry.Endpoint = "/dev/x" }).Endpoint, "what the server reports comes first")

	front := seen(asFrontend, lists(running))
	require.Equal(t, targetAt("10.0.0.8").Address(), address(front.TargetIP, front.TargetPort), "no record is no other target")
	require.EqualValues(t, 3<<30, front.Size, "the size of the engine is not known")
	require.EqualValues(t, 2<<30, seen(asFrontend, lists(running), func(w *World) { w.EngineSize = 2 << 30 }).Size)

	before.Image = ""
	require.Equal(t, "image:v1", seen().Image, "an image that is not known is that of the spec")
	before.Image, before.State, before.Starting, before.Started = "image:v0", starting, true, false
	require.Equal(t, "image:v1", seen().Image, "a new process has the image of the spec")
}

func TestAFailureIsReportedWithItsCause(t *testing.T) {
	require.Equal(t, "im-1 lists it as error: exit status 61",
		Decide(world(wanted, status(was(running)), lists(failed), func(w *World) { w.Here.Entry.Error = "exit status 61" })).Message)
	require.Equal(t, "im-1 lists it as stopped: it reports no cause.", Decide(world(wanted, status(was(running)), lists(halted))).Message)
}
