package cluster

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

// withDisk gives the node a v2 disk that instance manager m loaded and that is ready; change what differs.
func withDisk(key string, changes ...func(*v1beta2.DiskStatus)) func(*Node) {
	return func(n *Node) {
		if n.Object.Spec.Disks == nil {
			n.Object.Spec.Disks, n.Object.Status.DiskStatus = map[string]v1beta2.DiskSpec{}, map[string]v1beta2.DiskStatus{}
		}
		n.Object.Spec.Disks[key] = v1beta2.DiskSpec{DiskType: blockDisk}
		n.Object.Status.DiskStatus[key] = *changed(&v1beta2.DiskStatus{DiskUUID: key + "-uuid", InstanceManagerName: "m",
			Conditions: []v1beta2.Condition{{Type: v1beta2.DiskReady, Status: v1beta2.ConditionTrue}}}, changes)
	}
}

func diskReady(status v1beta2.ConditionStatus, reason string) func(*v1beta2.DiskStatus) {
	return func(d *v1beta2.DiskStatus) {
		d.Conditions = []v1beta2.Condition{{Type: v1beta2.DiskReady, Status: status, Reason: reason}}
	}
}

func load(state string) func(*v1beta2.DiskStatus) {
	return func(d *v1beta2.DiskStatus) { d.Load = &v1beta2.DiskLoad{State: state} }
}

func unrecorded(d *v1beta2.DiskStatus) { d.DiskUUID = "" }

func TestWhyADiskOfANodeIsNotReady(t *testing.T) {
	notReady := diskReady(v1beta2.ConditionFalse, v1beta2.ReasonDiskNotReady)
	for sentence, c := range map[string]struct {
		node    Node
		manager string
		want    string
	}{
		"no such Node": {Node{}, "", ""},
		"no disks":     {node("a"), "", ""},
		"ready":        {node("a", withDisk("d")), "", ""},
		"ready, loaded by the wanted instance manager": {node("a", withDisk("d", load(v1beta2.DiskLoadReady))), "m", ""},
		"not ready for a reason":                       {node("a", withDisk("d", notReady)), "", "disk d (d-uuid) is not ready (DiskNotReady)"},
		"unknown, without a reason": {
			node("a", withDisk("d", diskReady(v1beta2.ConditionUnknown, ""))), "", "disk d (d-uuid) is not ready"},
		"nothing is reported": {node("a", withDisk("d", func(d *v1beta2.DiskStatus) { d.Conditions = nil })), "",
			"disk d (d-uuid) is not ready"},
		"it is ready as of before and being loaded": {node("a", withDisk("d", load(v1beta2.DiskLoadCreating))), "",
			"disk d (d-uuid) is being loaded"},
		"another instance manager reported it": {node("a", withDisk("d")), "m-new",
			"disk d (d-uuid) was not loaded by the new instance manager yet"},
		"the first by its key is named": {node("a", withDisk("z", notReady), withDisk("y"), withDisk("x", notReady)), "",
			"disk x (x-uuid) is not ready (DiskNotReady)"},
		"one that was never loaded holds no replica": {node("a", withDisk("d", notReady, unrecorded)), "", ""},
		"a server of v2 does not load those of v1": {node("a", withDisk("d", notReady), func(n *Node) {
			n.Object.Spec.Disks["d"] = v1beta2.DiskSpec{DiskType: "filesystem"}
		}), "m-new", ""},
		"one that left the spec": {node("a", withDisk("d", notReady), func(n *Node) { delete(n.Object.Spec.Disks, "d") }), "", ""},
	} {
		t.Run(sentence, func(t *testing.T) { require.Equal(t, c.want, c.node.DiskNotReady(c.manager)) })
	}
}
