package replica

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

// withoutNode adds a replica as longhorn-manager creates it before it has a place.
func withoutNode(name string) change {
	return func(w *World) {
		coming(name)(w)
		w.the(name).Spec.NodeID, w.the(name).Spec.DiskID = "", ""
	}
}

func used(w *World) { w.Volume.Status.CurrentImage = "image" }

// full has no room on any disk.
func full(w *World) {
	for _, n := range w.Nodes {
		disk := n.Status.DiskStatus["disk"]
		disk.StorageAvailable = gib
		n.Status.DiskStatus["disk"] = disk
	}
}

func TestAReplicaWithoutANodeIsNoPlacedOne(t *testing.T) {
	here := volume(func(v *v1beta2.Volume) { v.Spec.NodeID = "b" })
	strictLocal := func(changes ...change) World {
		return fresh(append([]change{wants(1), locality("strict-local"), withoutNode("x")}, changes...)...)
	}
	check(t, map[string]row{
		"strict-local waits for the node without it": {strictLocal(), "delete:x", v1beta2.ReasonWaitingForNode},
		"and goes to the node":                       {strictLocal(here), "create:b delete:x", v1beta2.ReasonPlaced},
		"and nowhere else":                           {strictLocal(here, closed("b")), "delete:x", v1beta2.ReasonNoUsableNode},
		"or anywhere to be filled":                   {strictLocal(cloned), "create:a delete:x", v1beta2.ReasonPlaced},
		"disks that are full": {fresh(withoutNode("x"), withoutNode("y"), full), "delete:x",
			v1beta2.ReasonInsufficientSpace},
		"disks that have room again": {fresh(withoutNode("x"), withoutNode("y"), isScheduled(v1beta2.ReasonInsufficientSpace)),
			"create:a create:b create:c delete:x", v1beta2.ReasonPlaced},
		"others that have a place": {fresh(coming("a"), coming("b"), withoutNode("x")), "create:c delete:x", v1beta2.ReasonPlaced},
		"one that failed": {fresh(wants(1), withoutNode("x"),
			replica("x", func(r *v1beta2.Replica) { r.Spec.FailedAt = ago(time.Minute) })), "create:a delete:x", v1beta2.ReasonPlaced},
		"a disk, and so data perhaps": {fresh(wants(1), withoutNode("x"),
			replica("x", func(r *v1beta2.Replica) { r.Spec.DiskID = "disk-a" })), "create:b", v1beta2.ReasonPlaced},

		"the volume may have been attached, and the machine finds that out first": {fresh(withoutNode("x"), used), "", ""},
		"an attached volume gets another one": {attached("a b", wants(3), withoutNode("x")), "create:c delete:x",
			v1beta2.ReasonPlaced},
		"one that has all that it wants": {attached("a b", withoutNode("x")), "delete:x", v1beta2.ReasonPlaced},
		"one without another copy": {attached("a", failed("a", time.Minute), withoutNode("x")), "",
			""},
	})
}

// A replica without a node has no data: it goes although no other copy is healthy.
func TestAReplicaThatNeverHadDataGoesWithoutAnotherCopy(t *testing.T) {
	goes := []change{withoutNode("x"), deleted("x", 0)}
	with := func(more ...change) World {
		return fresh(append(append([]change{wants(1), coming("a"), isScheduled(v1beta2.ReasonPlaced)}, goes...), more...)...)
	}
	spec := func(of func(*v1beta2.ReplicaSpec)) change {
		return replica("x", func(r *v1beta2.Replica) { of(&r.Spec) })
	}
	refused := "refuse:x=" + v1beta2.ReasonNoHealthyCopy
	check(t, map[string]row{
		"of v2":          {with(), "release:x", ""},
		"of v1":          {with(v1("x")), "release:x", ""},
		"of no volume":   {with(noVolume), "release:x", ""},
		"it has a node":  {with(spec(func(s *v1beta2.ReplicaSpec) { s.NodeID = "b" })), refused, ""},
		"it has a disk":  {with(spec(func(s *v1beta2.ReplicaSpec) { s.DiskID = "disk-b" })), refused, ""},
		"it must run":    {with(spec(func(s *v1beta2.ReplicaSpec) { s.DesireState = v1beta2.InstanceStateRunning })), refused, ""},
		"it was healthy": {with(spec(func(s *v1beta2.ReplicaSpec) { s.LastHealthyAt = ago(time.Hour) })), refused, ""},
		"it is healthy":  {with(spec(func(s *v1beta2.ReplicaSpec) { s.HealthyAt = ago(time.Hour) })), refused, ""},
		"an engine has it": {with(func(w *World) {
			w.Engine = &v1beta2.Engine{}
			w.Engine.Spec.ReplicaAddressMap = map[string]string{w.the("x").Name: "ip:1"}
		}), refused, ""},
	})
}

// What longhorn-manager could not place is placed once there is room, and nothing of the former replicas is left.
func TestAVolumeWhoseDisksWereFullGetsItsReplicas(t *testing.T) {
	w := fresh(withoutNode("x"), withoutNode("y"), withoutNode("z"), full)
	for range 8 {
		v := decide(w)
		require.Empty(t, v.Create)
		done(&w, v)
	}
	require.Empty(t, w.Replicas)
	for name := range w.Nodes {
		w.Nodes[name] = newNode(name)
	}
	require.Equal(t, "create:a create:b create:c", reported(decide(w)))
}
