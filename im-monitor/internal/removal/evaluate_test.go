package removal_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/removal"
	"drover.dev/drover/shared/api/v1beta2"
)

const (
	name, volume = "vol-1-r-aaaaaaaa", "vol-1"
	here, there  = "im-1", "im-2"
	uuid         = "11111111-2222-3333-4444-555555555555"
	disk, other  = "99999999-0000-0000-0000-000000000001", "99999999-0000-0000-0000-000000000002"
)

var now = time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)

// seen is a world in which everything is ready: an approved removal of data that a list shows.
func seen(change ...func(*removal.World)) removal.World {
	w := removal.World{
		Now: now, Node: &removal.Node{}, FencingDelayEnds: now,
		Replica: removal.Replica{Name: name, Volume: volume, VolumeUID: "uid-1", DataEngine: "v2", Node: "node-1", Disk: disk,
			Current: "stopped", Deleting: true, Approval: v1beta2.ReasonVolumeDeleting},
		Places: []removal.Place{{InstanceManager: here, Known: true,
			Instance: &removal.Instance{Type: "replica", State: "stopped", UUID: uuid, Disk: disk}}},
	}
	for _, f := range change {
		f(&w)
	}
	return w
}

func reported(status v1beta2.ConditionStatus, reason string) *v1beta2.Condition {
	return &v1beta2.Condition{Type: v1beta2.ReplicaDataRemoved, Status: status, Reason: reason}
}

// Changes of the world.
func approved(reason string) func(*removal.World) {
	return func(w *removal.World) { w.Replica.Approval = reason }
}
func replica(f func(*removal.Replica)) func(*removal.World) {
	return func(w *removal.World) { f(&w.Replica) }
}
func listed(f func(*removal.Instance)) func(*removal.World) {
	return func(w *removal.World) { f(w.Places[0].Instance) }
}
func place(f func(*removal.Place)) func(*removal.World) {
	return func(w *removal.World) { f(&w.Places[0]) }
}
func missing(absent bool) func(*removal.World) {
	return place(func(p *removal.Place) { p.Instance, p.Absent = nil, absent })
}
func silent(w *removal.World) { w.Places[0] = removal.Place{InstanceManager: here} }

func second(p removal.Place) func(*removal.World) {
	return func(w *removal.World) { w.Places = append(w.Places, p) }
}

func TestEvaluate(t *testing.T) {
	const rest, remove, prove = removal.Rest, removal.Remove, removal.Prove
	for _, c := range []struct {
		name string
		w    removal.World
		step removal.Step
		// status and reason are empty where nothing new is reported.
		status v1beta2.ConditionStatus
		reason string
	}{
		{"approved and listed data is removed", seen(), remove, "", ""},
		{"a healthy copy elsewhere is as good an approval", seen(approved(v1beta2.ReasonHealthyCopyElsewhere)), remove, "", ""},
		{"without an approval nothing happens", seen(approved("")), rest, "", ""},
		{"an approval for an unknown reason means wait", seen(approved("FromTheFuture")), rest, "", ""},
		{"a replica that is not being deleted stays", seen(replica(func(r *removal.Replica) { r.Deleting = false })), rest, "", ""},
		{"an end is final", seen(replica(func(r *removal.Replica) { r.Said = reported("True", v1beta2.ReasonNodeGone) })), rest, "", ""},
		{"an earlier obstacle is checked again",
			seen(replica(func(r *removal.Replica) { r.Said = reported("False", v1beta2.ReasonUnreachable) })), remove, "", ""},
		{"it was never placed", seen(replica(func(r *removal.Replica) { r.Node = "" })), rest, "True", v1beta2.ReasonNothingToRemove},
		{"its node does not exist any more", seen(func(w *removal.World) { w.Node = nil }), rest, "True", v1beta2.ReasonNodeGone},
		{"its node is down although a list is known", seen(func(w *removal.World) { w.Node.Down = true }), rest, "False",
			v1beta2.ReasonUnreachable},
		{"its node has no instance manager", seen(func(w *removal.World) { w.Places = nil }), rest, "False", v1beta2.ReasonUnreachable},
		{"unknown is not empty", seen(silent), rest, "False", v1beta2.ReasonUnreachable},
		{"one of two lists is unknown and the other lacks it", seen(missing(true), second(removal.Place{InstanceManager: there})), rest,
			"False", v1beta2.ReasonUnreachable},
		{"one of two lists is unknown and the other shows it", seen(second(removal.Place{InstanceManager: there})), remove, "", ""},
		{"two servers list the same instance", seen(place(func(p *removal.Place) { p.Duplicate = there })), rest, "False",
			v1beta2.ReasonUnreachable},
		{"its name is carried by something else", seen(listed(func(i *removal.Instance) { i.Type = "engine" })), rest, "False",
			v1beta2.ReasonUUIDMismatch},
		{"the listed replica is on another disk", seen(listed(func(i *removal.Instance) { i.Disk = other })), rest, "False",
			v1beta2.ReasonUUIDMismatch},
		{"the server does not report the disk", seen(listed(func(i *removal.Instance) { i.Disk = "" })), remove, "", ""},
		{"the server does not report the UUID", seen(listed(func(i *removal.Instance) { i.UUID = "" })), rest, "False",
			v1beta2.ReasonUUIDMismatch},
		{"it still runs", seen(replica(func(r *removal.Replica) { r.Current, r.Begun = "running", true })), rest, "", ""},
		{"its start is recorded", seen(replica(func(r *removal.Replica) { r.Begun = true })), rest, "", ""},
		{"it is unknown whether it runs", seen(replica(func(r *removal.Replica) { r.Current = "unknown" })), rest, "", ""},
		{"it has no state yet", seen(replica(func(r *removal.Replica) { r.Current = "" })), remove, "", ""},
		{"the last try failed", seen(func(w *removal.World) { w.Failure = &removal.Failure{Reason: v1beta2.ReasonMappedByEngine} }), remove,
			"False", v1beta2.ReasonMappedByEngine},
		{"one list lacks it", seen(missing(false)), prove, "", ""},
		{"a list lacks it, but its disk is not loaded",
			seen(missing(false), place(func(p *removal.Place) { p.Unloaded = []string{"disk-1"} })), prove, "False",
			v1beta2.ReasonDiskNotLoaded},
		{"it was never there", seen(missing(true)), rest, "True", v1beta2.ReasonNothingToRemove},
		{"it is gone after our call", seen(missing(true), func(w *removal.World) { w.Called = true }), rest, "True", v1beta2.ReasonRemoved},
		{"it is gone but its object runs", seen(missing(true), replica(func(r *removal.Replica) { r.Current = "running" })), rest, "", ""},
		{"it is proven absent in one of two lists only", seen(missing(true), second(removal.Place{InstanceManager: there, Known: true})),
			prove, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := removal.Evaluate(c.w)
			require.Equal(t, c.step, v.Step)
			require.Zero(t, v.RequeueAt)
			if c.reason == "" {
				require.Nil(t, v.Condition)
				return
			}
			require.NotNil(t, v.Condition)
			require.Equal(t, c.status, v.Condition.Status)
			require.Equal(t, c.reason, v.Condition.Reason)
			require.Equal(t, v1beta2.ReplicaDataRemoved, v.Condition.Type)
		})
	}
}

func TestNothingIsReportedOrCalledDuringThePostElectionDelay(t *testing.T) {
	ends := now.Add(time.Minute)
	for _, w := range []removal.World{seen(), seen(missing(true)), seen(func(w *removal.World) { w.Node = nil })} {
		w.FencingDelayEnds = ends
		require.Equal(t, removal.Verdict{RequeueAt: ends}, removal.Evaluate(w))
	}
}
