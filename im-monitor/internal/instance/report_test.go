package instance

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

func TestARunningInstanceTellsWhereItIs(t *testing.T) {
	begun := status(Status{State: starting, Starting: true, InstanceManager: im})
	where := Status{State: running, Started: true, InstanceManager: im, Image: "image:v1", IP: "10.0.0.1", StorageIP: "10.0.0.1", Port: 10010, UUID: "u-1"}
	with := func(f func(*Status)) Status { s := where; f(&s); return s }
	paths := []v1beta2.NvmeTCPPath{{TargetIP: "10.0.0.9", TargetPort: 20001, ANAState: anaOptimized, EngineName: "vol-e-0"}}
	frontendEntry := func(w *World) {
		w.Here.Entry = &Entry{State: running, Endpoint: "/dev/longhorn/vol", ActivePath: "10.0.0.9:20001", PreferredPath: "10.0.0.9:20001", Paths: paths}
	}
	salvage := func(w *World) { w.Object.SalvageRequested = true }
	for _, c := range []struct {
		name  string
		world World
		want  Status
	}{
		{"a replica", world(wanted, asReplica, begun, lists(running)), where},
		{"a v1 engine's device carries the volume's name", world(wanted, begun, lists(running)), with(func(s *Status) { s.Endpoint = "/dev/longhorn/vol" })},
		{"a v1 iSCSI target, too", world(wanted, begun, lists(running), func(w *World) { w.Object.Frontend = "iscsi" }),
			with(func(s *Status) { s.Endpoint = "iscsi://10.0.0.1:3260/iqn.2019-10.io.longhorn:vol/1" })},
		{"a v1 engine without a frontend shows nothing", world(wanted, begun, lists(running), func(w *World) { w.Object.DisableFrontend = true }), where},
		{"an engine that was asked to salvage did", world(wanted, v2, begun, lists(running), salvage), with(func(s *Status) { s.SalvageExecuted = true })},
		{"one that ran before it was asked did not", world(wanted, v2, status(where), lists(running), salvage), where},
		{"a new image is not what runs", world(wanted, asReplica, status(where), lists(running), func(w *World) { w.Object.Image = "image:v2" }), where},
		{"a frontend", world(wanted, asFrontend, begun, frontendEntry), Status{State: running, Started: true, InstanceManager: im, Image: "image:v1", IP: "10.0.0.1",
			StorageIP: "10.0.0.1", Endpoint: "/dev/longhorn/vol", ActivePath: "10.0.0.9:20001", PreferredPath: "10.0.0.9:20001", Paths: paths,
			TargetIP: "10.0.0.9", TargetPort: 20001, Size: 1 << 30}},
		{"a frontend follows its engine's size", world(wanted, asFrontend, begun, frontendEntry, func(w *World) { w.EngineSize = 2 << 30 }), Status{State: running, Started: true,
			InstanceManager: im, Image: "image:v1", IP: "10.0.0.1", StorageIP: "10.0.0.1", Endpoint: "/dev/longhorn/vol", ActivePath: "10.0.0.9:20001",
			PreferredPath: "10.0.0.9:20001", Paths: paths, TargetIP: "10.0.0.9", TargetPort: 20001, Size: 2 << 30}},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, Decide(c.world).Status) })
	}
}

func TestAFrontendMovesInPhasesThatItsPathsTell(t *testing.T) {
	path := func(ip, state string) v1beta2.NvmeTCPPath {
		return v1beta2.NvmeTCPPath{TargetIP: ip, TargetPort: 20001, ANAState: state}
	}
	for _, c := range []struct {
		name        string
		paths       []v1beta2.NvmeTCPPath
		phase, next string
		targetIP    string
	}{
		{"at the target there is nothing to do", []v1beta2.NvmeTCPPath{path("10.0.0.9", anaOptimized)}, "", "", "10.0.0.9"},
		{"no path to the target: prepare", []v1beta2.NvmeTCPPath{path("10.0.0.8", anaOptimized)}, "", phasePreparing, "10.0.0.8"},
		{"a second path: switch", []v1beta2.NvmeTCPPath{path("10.0.0.8", anaOptimized), path("10.0.0.9", "non-optimized")}, phasePreparing, phaseSwitching, "10.0.0.8"},
		{"the old path is closed: promote", []v1beta2.NvmeTCPPath{path("10.0.0.8", anaInaccessible), path("10.0.0.9", "non-optimized")}, phaseSwitching, phasePromoting, "10.0.0.7"},
		{"the new path is promoted: done, whatever is left of the old one", []v1beta2.NvmeTCPPath{path("10.0.0.8", anaInaccessible), path("10.0.0.9", anaOptimized)}, "", "", "10.0.0.9"},
		{"no paths tell nothing", nil, "", "", "10.0.0.7"},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := was(running)
			before.TargetIP, before.TargetPort = "10.0.0.7", 20001
			w := world(wanted, asFrontend, status(before), lists(running), func(w *World) { w.Here.Entry.Paths = c.paths }, serving("10.0.0.9"))
			v := Decide(w)
			require.Equal(t, c.phase, v.Status.SwitchoverPhase)
			require.Equal(t, c.next, v.Call.Phase)
			require.Equal(t, c.next != "", v.Call.Op == OpSwitchOver)
			require.Equal(t, c.targetIP, v.Status.TargetIP)
		})
	}
}
