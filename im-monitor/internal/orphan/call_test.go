package orphan_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/mapping"
	"drover.dev/drover/im-monitor/internal/orphan"
	"drover.dev/drover/shared/api/v1beta2"
)

const lvstore = "99999999-0000-0000-0000-000000000001"

// call decides about the approved orphan of a World.
func call(w orphan.World, change ...func(*orphan.CallWorld)) orphan.Call {
	known(approved)(&w)
	c := orphan.CallWorld{World: w, Orphan: w.Orphans[0], Copies: orphan.Copies{Volume: "vol-1"}}
	for _, f := range change {
		f(&c)
	}
	return orphan.DecideCall(c, orphan.Evaluate(c.World))
}

func onDisk(w *orphan.World) { w.Inventory.Instance.DiskUUID = lvstore }

func TestCleanupIsRequiredOnlyForUnclaimedV2Data(t *testing.T) {
	onNode := func(node, disk string) func(*orphan.World) {
		return claimed(detached, func(c *orphan.Claim) { c.NodeID, c.DiskID = node, disk })
	}
	cases := []struct {
		name    string
		world   orphan.World
		cleanup bool
	}{
		{"a v2 replica without Replica: no one claims the data", seen(v2), true},
		{"data only", seen(v2, state("stopped")), true},
		{"a v2 replica whose Replica is stopped: only the runtime goes", seen(v2, onDisk, onNode("node-1", lvstore)), false},
		{"a Replica on another node and disk owns other data", seen(v2, onDisk, onNode("node-2", "other-disk")), true},
		{"another node alone proves nothing: the disk may have moved", seen(v2, onDisk, onNode("node-2", lvstore)), false},
		{"another disk alone proves nothing", seen(v2, onDisk, onNode("node-1", "other-disk")), false},
		{"a Replica without disk claims", seen(v2, onDisk, onNode("node-2", "")), false},
		{"an lvol on an unknown disk is claimed", seen(v2, onNode("node-2", "other-disk")), false},
		{"a v2 engine has no data and its deletion needs cleanup", seen(v2, kind("engine"), func(w *orphan.World) { w.Key.Name = engine }),
			true},
		{"a v1 replica with Replica", seen(claimed(detached)), false},
		{"a v1 engine", seen(kind("engine"), func(w *orphan.World) { w.Key.Name = engine }), true},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, orphan.Call{Allowed: true, Cleanup: c.cleanup}, call(c.world)) })
	}
}

func TestAReplicaThatARunningEngineMapsIsNotDeleted(t *testing.T) {
	maps := func(running bool, address string) func(*orphan.CallWorld) {
		return func(c *orphan.CallWorld) {
			c.Engines = []mapping.Engine{{Name: engine, Running: running, Replicas: map[string]string{replica: address}}}
		}
	}
	place := func(p mapping.Place) func(*orphan.CallWorld) {
		return func(c *orphan.CallWorld) { c.Places = append(c.Places, p) }
	}
	moved := claimed(elsewhere, func(c *orphan.Claim) { c.DiskID, c.Address = "other-disk", "10.0.0.2:20001" })
	cases := []struct {
		name  string
		world orphan.World
		call  func(*orphan.CallWorld)
		want  string
	}{
		{"mapped by a running Engine", seen(v2), maps(true, "10.0.0.1:20001"), v1beta2.ReasonMappedByEngine},
		{"in the modes of a running Engine", seen(v2), maps(true, ""), v1beta2.ReasonMappedByEngine},
		{"mapped by a stopped Engine", seen(v2), maps(false, "10.0.0.1:20001"), ""},
		{"the Engine maps the Replica's own instance elsewhere", seen(v2, onDisk, moved), maps(true, "10.0.0.2:20001"), ""},
		{"the Engine still maps the instance here", seen(v2, onDisk, moved), maps(true, "10.0.0.1:20001"), v1beta2.ReasonMappedByEngine},
		{"a claimed runtime that is mapped is not stopped under its engine", seen(v2, claimed(detached)), maps(true, "10.0.0.1:20001"),
			v1beta2.ReasonMappedByEngine},
		{"an engine without an object, in some inventory, maps it",
			seen(v2), place(mapping.Place{Node: "node-9", Known: true, MappedBy: "vol-1-e-7"}),
			v1beta2.ReasonMappedByEngine},
		{"an instance manager that must be polled does not answer", seen(v2), place(mapping.Place{Node: "node-9", Needed: true}),
			v1beta2.ReasonUnreachable},
		{"an instance manager that need not be polled does not answer", seen(v2), place(mapping.Place{Node: "node-9"}), ""},
		{"a node that is down and silent runs no engine", seen(v2), place(mapping.Place{Node: "node-9", Needed: true, Down: true}), ""},
		{"a node whose kubelet is dead still runs the engine that it lists", seen(v2),
			place(mapping.Place{Node: "node-9", Needed: true, Down: true, Known: true, MappedBy: "vol-1-e-7"}),
			v1beta2.ReasonMappedByEngine},
		{"nothing is destroyed, so an unreachable instance manager does not matter", seen(v2, claimed(detached)),
			place(mapping.Place{Node: "node-9", Needed: true}), ""},
		{"v1 processes leave the data alone", seen(), maps(true, "10.0.0.1:20001"), ""},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got := call(c.world, c.call)
			require.Equal(t, c.want, got.Failure.Reason)
			require.Equal(t, c.want == "", got.Allowed)
			if c.want == v1beta2.ReasonUnreachable {
				require.Contains(t, got.Failure.Message, "node-9", "the message names the node to check")
			}
		})
	}
}

// L4: its Orphan exists all the same, so that a person sees it.
func TestAV1ReplicaIsNotDeletedUnderAnEngineThatNoObjectAccountsFor(t *testing.T) {
	used := seen(claimed(detached), func(w *orphan.World) { w.MayUse = "engine vol-1-e-3 on im-1" })
	refused := call(used)
	require.False(t, refused.Allowed)
	require.Equal(t, v1beta2.ReasonMappedByEngine, refused.Failure.Reason)
	require.Contains(t, refused.Failure.Message, "engine vol-1-e-3 on im-1, which no object accounts for")
	used.MayUse = ""
	require.True(t, call(used).Allowed)
}

func TestAPolicyDoesNotDeleteTheLastCopy(t *testing.T) {
	byPolicy := func(c *orphan.CallWorld) {
		c.Orphan.Conditions = append(c.Orphan.Conditions,
			v1beta2.Condition{Type: v1beta2.OrphanDeletionReason, Status: "True", Reason: v1beta2.ReasonAutoDeletion})
	}
	copies := func(volume string, exists bool, healthy int) func(*orphan.CallWorld) {
		return func(c *orphan.CallWorld) { c.Copies = orphan.Copies{Volume: volume, Exists: exists, Healthy: healthy} }
	}
	require.Equal(t, v1beta2.ReasonLastCopy, call(seen(v2), byPolicy, copies("vol-1", true, 0)).Failure.Reason)
	require.Equal(t, v1beta2.ReasonLastCopy, call(seen(v2), byPolicy, copies("", false, 0)).Failure.Reason,
		"it is not known whether an unknown volume is needed")
	require.True(t, call(seen(v2), byPolicy, copies("vol-1", true, 1)).Allowed)
	byHand := func(c *orphan.CallWorld) { c.Orphan.ByHand, c.Orphan.ByHandCommand = true, "kubectl annotate" }
	require.True(t, call(seen(v2), byPolicy, byHand, copies("vol-1", true, 0)).Allowed, "a person gave the word for this one")
	command := func(c *orphan.CallWorld) { c.Orphan.ByHandCommand = "kubectl annotate" }
	require.Contains(t, call(seen(v2), byPolicy, command, copies("vol-1", true, 0)).Failure.Message, "with kubectl annotate")
	ofData := func(c *orphan.CallWorld) { c.Orphan.Data = &orphan.Data{DiskName: "disk-1"} }
	require.Equal(t, v1beta2.ReasonLastCopy, call(seen(v2), byPolicy, ofData, copies("vol-1", false, 0)).Failure.Reason,
		"data has no UUID by which anybody could have recorded that it is not needed")
	require.True(t, call(seen(v2), byPolicy, ofData, copies("vol-1", true, 1)).Allowed)
	require.True(t, call(seen(v2), byPolicy, byHand, ofData, copies("vol-1", false, 0)).Allowed)
	require.Contains(t, call(seen(v2), byPolicy, command, ofData, copies("vol-1", false, 0)).Failure.Message, "with kubectl annotate")
	givenUp := func(c *orphan.CallWorld) { c.Orphan.GivenUp = true }
	require.True(t, call(seen(v2), byPolicy, givenUp, ofData, copies("vol-1", false, 0)).Allowed, "a person recorded that it is not needed")
	require.Equal(t, v1beta2.ReasonLastCopy, call(seen(v2), byPolicy, givenUp, ofData, copies("vol-1", true, 0)).Failure.Reason)
	require.Equal(t, v1beta2.ReasonLastCopy, call(seen(v2), byPolicy, givenUp, ofData, copies("", false, 0)).Failure.Reason)
	require.True(t, call(seen(v2), ofData, copies("vol-1", false, 0)).Allowed, "a person may delete it")
	require.True(t, call(seen(v2), byPolicy, copies("vol-1", false, 0)).Allowed, "the volume is gone, so no copy is needed")
	require.True(t, call(seen(v2), copies("vol-1", true, 0)).Allowed, "a person was warned, and may delete it")
	require.Equal(t, orphan.Call{Allowed: true}, call(seen(v2, claimed(detached)), byPolicy, copies("vol-1", true, 0)),
		"no data is destroyed, so no copy is lost")
}

func TestNoCallIsAllowedWhereTheEvaluationIsNotOrphaned(t *testing.T) {
	require.Equal(t, orphan.Call{}, call(seen(claimed())))
	require.Equal(t, orphan.Call{}, call(seen(unknownList)))
	require.Equal(t, orphan.Call{}, call(seen(), func(c *orphan.CallWorld) { c.World.Orphans, c.Orphan.Name = nil, "orphan-of-another" }))
}

func TestVolumeOf(t *testing.T) {
	require.Equal(t, "vol-1", orphan.VolumeOf("vol-1-r-aabbccdd"))
	require.Equal(t, "a-r-b", orphan.VolumeOf("a-r-b-r-aabbccdd"))
	require.Empty(t, orphan.VolumeOf("something"))
	require.Empty(t, orphan.VolumeOf("vol-r-not-an-id"),
		"a wrong volume would give wrong engines and copies; with an unknown one all of them count")
	require.Empty(t, orphan.VolumeOf("vol-r-"))
}
