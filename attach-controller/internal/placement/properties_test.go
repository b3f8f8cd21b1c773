package placement

import (
	"fmt"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

func rarely(t *rapid.T, label string) bool { return rapid.IntRange(0, 5).Draw(t, label) == 0 }

func anyOf(t *rapid.T, label string, of ...string) string {
	return rapid.SampledFrom(of).Draw(t, label)
}

func anyTags(t *rapid.T, label string) []string {
	return rapid.SliceOfDistinct(rapid.SampledFrom([]string{"x", "y", "z"}), rapid.ID).Draw(t, label)
}

func anyNode(t *rapid.T, name string) Node {
	n := node(name, zone(anyOf(t, "zone", "", "zone-1", "zone-2")))
	n.HasManager = !rarely(t, "no manager")
	n.LacksImage = rarely(t, "no engine image")
	n.Spec.AllowScheduling, n.Spec.EvictionRequested, n.Spec.UpgradeRequested = !rarely(t, "not allowed"), rarely(t, "evicted"),
		rarely(t, "upgraded")
	n.Spec.Tags = anyTags(t, "node tags")
	if rarely(t, "not ready") {
		n.Status.Conditions = nil
	}
	if rarely(t, "cordoned") {
		cordoned(&n)
	}
	for i := range rapid.IntRange(0, 3).Draw(t, "disks") {
		key := fmt.Sprintf("disk-%d", i)
		disk(key, func(spec *v1beta2.DiskSpec, status *v1beta2.DiskStatus) {
			spec.DiskType = anyOf(t, "kind", diskFilesystem, diskBlock, "")
			spec.AllowScheduling, spec.EvictionRequested = !rarely(t, "disk not allowed"), rarely(t, "disk evicted")
			spec.Tags = anyTags(t, "disk tags")
			spec.StorageReserved = rapid.Int64Range(0, 200).Draw(t, "reserved") * gib
			status.StorageMaximum = rapid.Int64Range(0, 200).Draw(t, "maximum") * gib
			status.StorageAvailable = rapid.Int64Range(0, 200).Draw(t, "available") * gib
			if rarely(t, "not schedulable") {
				status.Conditions = nil
			}
		})(&n)
		promised(key, rapid.Int64Range(0, 100).Draw(t, "promised"))(&n)
	}
	return n
}

func anyRequest(t *rapid.T, nodes []Node) Request {
	flag := func(label string) bool { return rapid.Bool().Draw(t, label) }
	r := Request{
		DataEngine: anyOf(t, "engine", v1beta2.DataEngineV1, v1beta2.DataEngineV2), Size: rapid.Int64Range(0, 100).Draw(t, "size") * gib,
		NodeSoft: flag("node soft"), ZoneSoft: flag("zone soft"), DiskSoft: flag("disk soft"), HonourCordon: flag("honour cordon"),
		OverProvisioning: rapid.IntRange(0, 300).Draw(t, "over"), MinimalAvailable: rapid.IntRange(0, 100).Draw(t, "minimal"),
	}
	if rarely(t, "selects") {
		r.NodeSelector, r.DiskSelector = anyTags(t, "node selector"), anyTags(t, "disk selector")
	}
	if rarely(t, "only") {
		r.OnlyNode = anyOf(t, "only node", "node-0", "node-1", "gone")
	}
	r.PreferNode = anyOf(t, "prefers", "", "node-0", "node-1", "gone")
	for range rapid.IntRange(0, 2).Draw(t, "taken") {
		if len(nodes) > 0 {
			n := nodes[rapid.IntRange(0, len(nodes)-1).Draw(t, "on")]
			r.Taken = append(r.Taken, Place{Node: n.Name, Zone: n.Status.Zone, DiskUUID: n.Name + "-disk-0",
				Leaves: rarely(t, "leaves")})
		}
	}
	return r
}

func anyCase(t *rapid.T) (Request, []Node) {
	var nodes []Node
	for i := range rapid.IntRange(0, 4).Draw(t, "nodes") {
		nodes = append(nodes, anyNode(t, fmt.Sprintf("node-%d", i)))
	}
	return anyRequest(t, nodes), nodes
}

// There is a place or a reason, and asking again, with the nodes in whatever order, gives the same answer.
func TestTheAnswerIsTotalAndTheSameInEveryOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		request, nodes := anyCase(t)
		found, why := Find(request, nodes)
		if found == nil {
			require.NotEmpty(t, why.Reason)
			require.NotEmpty(t, why.Message)
		} else {
			require.Zero(t, why)
		}
		shuffled := rapid.Permutation(nodes).Draw(t, "another order")
		again, whyAgain := Find(request, shuffled)
		require.Equal(t, found, again)
		require.Equal(t, why.Reason, whyAgain.Reason)
	})
}

// allowed checks independently of the filters whether a disk is suitable.
func allowed(r Request, n Node, key string) bool {
	spec, status := n.Spec.Disks[key], n.Status.DiskStatus[key]
	isBlock := spec.DiskType == diskBlock
	after := n.Scheduled[status.DiskUUID] + r.Size
	ok := conditions.IsTrue(n.Status.Conditions, v1beta2.NodeReady) && n.HasManager && !n.LacksImage && n.Spec.AllowScheduling &&
		!n.Spec.EvictionRequested &&
		!n.Spec.UpgradeRequested && !(r.HonourCordon && conditions.IsFalse(n.Status.Conditions, v1beta2.NodeSchedulable)) &&
		(r.OnlyNode == "" || r.OnlyNode == n.Name) &&
		isBlock == (r.DataEngine == v1beta2.DataEngineV2) && spec.AllowScheduling && !spec.EvictionRequested &&
		conditions.IsTrue(status.Conditions, v1beta2.DiskSchedulable) &&
		100*after <= (status.StorageMaximum-spec.StorageReserved)*int64(r.OverProvisioning) &&
		100*status.StorageAvailable > status.StorageMaximum*int64(r.MinimalAvailable)
	for _, tag := range r.NodeSelector {
		ok = ok && slices.Contains(n.Spec.Tags, tag)
	}
	for _, tag := range r.DiskSelector {
		ok = ok && slices.Contains(spec.Tags, tag)
	}
	for _, t := range r.Taken {
		ok = ok && (t.Leaves || (r.NodeSoft || t.Node != n.Name) && (r.ZoneSoft || t.Zone == "" || t.Zone != n.Status.Zone) &&
			(r.DiskSoft || t.Node != n.Name || t.DiskUUID != status.DiskUUID))
	}
	return ok
}

// No hard rule is ever broken, and where one disk obeys all of them a place is found.
func TestAPlaceIsFoundExactlyWhereADiskObeysEveryRule(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		request, nodes := anyCase(t)
		found, why := Find(request, nodes)
		possible := false
		for _, n := range nodes {
			for key := range n.Spec.Disks {
				possible = possible || allowed(request, n, key)
				if found != nil && found.UUID == n.Status.DiskStatus[key].DiskUUID {
					require.True(t, allowed(request, n, key), "%s on %s", key, n.Name)
				}
			}
		}
		require.Equal(t, possible, found != nil, why.Message)
	})
}

// A node is shared only where every allowed disk is on a shared one.
func TestANodeIsSharedOnlyWhereNothingElseIsLeft(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		request, nodes := anyCase(t)
		found, _ := Find(request, nodes)
		shares := func(name string) bool {
			return slices.ContainsFunc(request.Taken, func(p Place) bool { return p.Node == name && !p.Leaves })
		}
		if found == nil || !shares(found.Node) {
			return
		}
		for _, n := range nodes {
			for key := range n.Spec.Disks {
				require.False(t, allowed(request, n, key) && !shares(n.Name), "%s on %s was free", key, n.Name)
			}
		}
	})
}
