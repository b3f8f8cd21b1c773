package placement

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

// Each filter refuses with its own reason, in a message that names the candidate.
func TestACandidateThatIsRefusedIsNamedWithItsReason(t *testing.T) {
	notReady := func(n *Node) { n.Status.Conditions[0].Status = v1beta2.ConditionFalse }
	for name, c := range map[string]struct {
		request Request
		node    Node
		reason  string
		words   string
	}{
		"a node that is not ready": {asks(), node("a", disk("d"), notReady), v1beta2.ReasonNoUsableNode, "1 not ready (a)"},
		"a node without conditions": {asks(), node("a", disk("d"), func(n *Node) { n.Status.Conditions = nil }),
			v1beta2.ReasonNoUsableNode, "1 not ready (a)"},
		"a node that is being deleted": {asks(),
			node("a", disk("d"), func(n *Node) { n.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)} }), v1beta2.ReasonNoUsableNode,
			"1 not ready (a)"},
		"a node where scheduling is not allowed": {asks(), node("a", disk("d"), func(n *Node) { n.Spec.AllowScheduling = false }),
			v1beta2.ReasonNoUsableNode, "1 spec.allowScheduling is false (a)"},
		"a node that is being evicted": {asks(), node("a", disk("d"), func(n *Node) { n.Spec.EvictionRequested = true }),
			v1beta2.ReasonNoUsableNode, "1 being evicted (a)"},
		"a node whose data engine is upgraded": {asks(), node("a", disk("d"), func(n *Node) { n.Spec.UpgradeRequested = true }),
			v1beta2.ReasonNoUsableNode, "1 its data engine is being upgraded (a)"},
		"a node that is cordoned": {asks(), node("a", disk("d"), cordoned), v1beta2.ReasonNoUsableNode, "1 cordoned (a)"},
		"a node without the engine image": {asks(), node("a", disk("d"), func(n *Node) { n.LacksImage = true }),
			v1beta2.ReasonNoUsableNode, "1 lacks the engine image (a)"},
		"a node without an instance manager": {asks(), node("a", disk("d"), func(n *Node) { n.HasManager = false }),
			v1beta2.ReasonNoUsableNode, "1 no running instance manager of the data engine (a)"},
		"another node than the only one": {asks(func(r *Request) { r.OnlyNode = "b" }), node("a", disk("d")),
			v1beta2.ReasonNoUsableNode, "1 not the node that it must be on (a)"},
		"a node without the tags": {asks(func(r *Request) { r.NodeSelector = []string{"ssd", "fast"} }),
			node("a", disk("d"), func(n *Node) { n.Spec.Tags = []string{"ssd"} }), v1beta2.ReasonTagsNotFound, "1 lacks the node tags (a)"},
		"a node without any disk": {asks(), node("a"), v1beta2.ReasonNoUsableDisk,
			"1 no disk of the kind that the data engine uses (a)"},
		"a node with disks of v2 only": {asks(), node("a", disk("d", block)), v1beta2.ReasonNoUsableDisk,
			"1 no disk of the kind that the data engine uses (a)"},
		"a node with disks of v1 only, for v2": {asks(func(r *Request) { r.DataEngine = v1beta2.DataEngineV2 }), node("a", disk("d")),
			v1beta2.ReasonNoUsableDisk, "1 no disk of the kind that the data engine uses (a)"},
		"a disk where scheduling is not allowed": {asks(),
			node("a", disk("d", func(s *v1beta2.DiskSpec, _ *v1beta2.DiskStatus) { s.AllowScheduling = false })),
			v1beta2.ReasonNoUsableDisk, "1 disk not allowed or being evicted (a/d)"},
		"a disk that is being evicted": {asks(),
			node("a", disk("d", func(s *v1beta2.DiskSpec, _ *v1beta2.DiskStatus) { s.EvictionRequested = true })),
			v1beta2.ReasonNoUsableDisk, "1 disk not allowed or being evicted (a/d)"},
		"a disk that is not schedulable": {asks(),
			node("a", disk("d", func(_ *v1beta2.DiskSpec, s *v1beta2.DiskStatus) { s.Conditions = nil })), v1beta2.ReasonNoUsableDisk,
			"1 disk not ready (a/d)"},
		"a disk whose UUID is not known yet": {asks(),
			node("a", disk("d", func(_ *v1beta2.DiskSpec, s *v1beta2.DiskStatus) { s.DiskUUID = "" })), v1beta2.ReasonNoUsableDisk,
			"1 disk not ready (a/d)"},
		"a disk without the tags": {asks(func(r *Request) { r.DiskSelector = []string{"nvme"} }),
			node("a", disk("d", tagged("hdd"))), v1beta2.ReasonTagsNotFound, "1 lacks the disk tags (a/d)"},
		"a disk with too little space": {asks(), node("a", disk("d"), promised("d", 95)), v1beta2.ReasonInsufficientSpace,
			"1 too little space (a/d). The best disk lacks 5Gi."},
		"a node that has a replica of the volume": {asks(taken("a", "other")), node("a", disk("d")), v1beta2.ReasonAntiAffinity,
			"1 has a replica of the volume on its node, zone or disk (a/d)"},
	} {
		t.Run(name, func(t *testing.T) {
			found, why := Find(c.request, []Node{c.node})
			require.Nil(t, found)
			require.Equal(t, c.reason, why.Reason)
			require.Contains(t, why.Message, c.words)
			require.Contains(t, why.Message, "No place for a replica of 10Gi: ")
		})
	}
}

func TestWithoutNodesThereIsNoPlace(t *testing.T) {
	found, why := Find(asks(), nil)
	require.Nil(t, found)
	require.Equal(t, Refusal{v1beta2.ReasonNoUsableNode, "There is no Node."}, why)
}

// What came furthest is what helps soonest: its reason stands, and all are counted.
func TestTheReasonIsThatOfTheCandidateThatCameFurthest(t *testing.T) {
	_, why := Find(asks(taken("d", "d")), []Node{
		node("a", disk("d"), cordoned), node("b", disk("d", block)), node("c", disk("d"), promised("d", 91)), node("d", disk("d")),
	})
	require.Equal(t, Refusal{v1beta2.ReasonAntiAffinity,
		"No place for a replica of 10Gi: 1 cordoned (a); 1 no disk of the kind that the data engine uses (b); 1 too little space (c/d); " +
			"1 has a replica of the volume on its node, zone or disk (d/d). The best disk lacks 1Gi."}, why)
}

func TestAMessageNamesThreeOfManyCandidates(t *testing.T) {
	_, why := Find(asks(), []Node{
		node("a", disk("d"), cordoned), node("b", disk("d"), cordoned), node("c", disk("d"), cordoned), node("d", disk("d"), cordoned),
	})
	require.Equal(t, "No place for a replica of 10Gi: 4 cordoned (a, b, c, …).", why.Message)
}
