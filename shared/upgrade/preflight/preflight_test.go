package preflight

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/upgrade/cluster"
)

// A row is a world of which exactly this is what blocks the upgrade; want is a part of the message, empty for nothing.
type row struct {
	changes []func(*World)
	want    string
}

func changes(list ...func(*World)) []func(*World) { return list }

// hold checks that each row is blocked by this kind alone, or by nothing.
func hold(t *testing.T, kind Kind, volume string, rows map[string]row) {
	t.Helper()
	for sentence, c := range rows {
		t.Run(sentence, func(t *testing.T) {
			w := world(c.changes...)
			got := Blockers(w)
			if c.want == "" {
				require.Empty(t, got)
				return
			}
			require.Len(t, got, 1, "%v", got)
			require.Contains(t, got[0].Message, c.want)
			require.Equal(t, Blocker{Node: w.Node, Volume: volume, Kind: kind, Message: got[0].Message}, got[0])
		})
	}
}

func upgraded(m *v1beta2.InstanceManager) { m.Spec.Image = target }

func deletedNode(n *v1beta2.Node) { n.DeletionTimestamp = &metav1.Time{} }

func migratingTo(v *v1beta2.Volume) { v.Spec.MigrationNodeID = "b" }

func TestAnUpgradedNodeHasNoBlockers(t *testing.T) {
	require.Equal(t, []Kind{Migrating}, kindsOf(world(ofObject(migratingTo))))
	require.Empty(t, Blockers(world(ofObject(migratingTo), ofManager("a", upgraded))))
	require.Equal(t, []Kind{UnknownNode, Migrating}, kindsOf(world(ofObject(migratingTo), ofManager("a", upgraded),
		ofNode("a", deletedNode))), "one that is deleted is not an upgraded one")
}

func TestEveryBlockerIsReportedOfTheNodeFirstThenOfItsVolumesInOrder(t *testing.T) {
	w := world(down("a"), ofObject(migratingTo), func(w *World) {
		w.Image.Missing, w.Skip = "ErrImagePull", []string{"vol", "elsewhere"}
		second := volume("a-vol")
		second.Object.Spec.Frontend = frontendUblk
		second.Engines[0].Status.IsExpanding = true
		w.Cluster.Volumes["a-vol"] = second
		elsewhere := volume("elsewhere")
		elsewhere.Object.Spec.NodeID, elsewhere.Object.Status.CurrentNodeID = "b", "b"
		elsewhere.Engines[0].Spec.NodeID, elsewhere.Replicas = "b", elsewhere.Replicas[1:]
		w.Cluster.Volumes["elsewhere"] = elsewhere
	})
	var got []Blocker
	for _, b := range Blockers(w) {
		require.NotEmpty(t, b.Message)
		got = append(got, Blocker{Node: b.Node, Volume: b.Volume, Kind: b.Kind})
	}
	require.Equal(t, []Blocker{{"a", "", NodeNotReady, ""}, {"a", "", ImageMissing, ""}, {"a", "a-vol", TooFewReplicas, ""},
		{"a", "a-vol", Expanding, ""}, {"a", "a-vol", UblkFrontend, ""}, {"a", "vol", SkippedAttached, ""},
		{"a", "vol", TooFewReplicas, ""}, {"a", "vol", Migrating, ""}}, got)
}

func TestANodeOfAnUpgradeExists(t *testing.T) {
	hold(t, UnknownNode, "", map[string]row{
		"it exists":     {nil, ""},
		"it does not":   {changes(of("z")), "leave it out of spec.nodes"},
		"it is deleted": {changes(empty, ofNode("a", deletedNode)), "no such Node"},
		"nothing else is reported of one that does not exist": {
			changes(of("z"), func(w *World) { w.Image.Missing = "ErrImagePull" }), "no such Node"},
	})
}

func TestANodeOfAnUpgradeServes(t *testing.T) {
	hold(t, NodeNotReady, "", map[string]row{
		"it is down": {changes(down("a"), empty), "the node is down"},
		"its instance manager does not run": {changes(empty, ofManager("a", func(m *v1beta2.InstanceManager) {
			m.Status.CurrentState = v1beta2.InstanceManagerStateError
		})), "its v2 instance manager does not run"},
		"it has no v2": {changes(empty, func(w *World) { w.Cluster.Nodes["a"] = cluster.Node{Object: node("a").Object} }), ""},
	})
}

func TestAnotherNodeCanHoldTheTargetsMeanwhile(t *testing.T) {
	cordoned := func(n *v1beta2.Node) { n.Spec.UpgradeRequested = true }
	evicted := func(n *v1beta2.Node) { n.Spec.EvictionRequested = true }
	off := func(n *v1beta2.Node) { n.Spec.AllowScheduling = false }
	hold(t, NoOtherNode, "", map[string]row{
		"one of them can":                   {changes(notRunning("b")), ""},
		"none has a running one":            {changes(notRunning("b"), notRunning("c")), "no other node has a running v2 instance manager"},
		"all are upgraded themselves":       {changes(ofNode("b", cordoned), ofNode("c", cordoned)), "no other node has a running"},
		"a node without volumes needs none": {changes(empty, notRunning("b"), notRunning("c")), ""},
		"a person keeps all free": {
			changes(ofNode("b", off), ofNode("c", evicted)), "b (scheduling off), c (being evicted). Allow one"},
		"a person keeps one free, and one does not run": {changes(ofNode("b", off), notRunning("c")),
			"meanwhile: b (scheduling off). Allow one"},
	})
}

func TestANodeCanRunTheImage(t *testing.T) {
	missing := func(text string) func(*World) { return func(w *World) { w.Image.Missing = text } }
	hold(t, ImageMissing, "", map[string]row{
		"it can":    {changes(missing("")), ""},
		"it cannot": {changes(missing("ErrImagePull")), "it cannot run image:new: ErrImagePull. Make the image available"},
		"a reason that is a sentence": {changes(missing("The image is unknown.")),
			"it cannot run image:new: The image is unknown. Make the image available"},
	})
}

func TestTheDisksOfANodeAreReady(t *testing.T) {
	unready := ofNode("a", func(n *v1beta2.Node) {
		n.Spec.Disks = map[string]v1beta2.DiskSpec{"d": {DiskType: "block"}}
		n.Status.DiskStatus = map[string]v1beta2.DiskStatus{"d": {DiskUUID: "d-uuid", InstanceManagerName: "im-a"}}
	})
	ready := ofNode("a", func(n *v1beta2.Node) {
		disk := n.Status.DiskStatus["d"]
		disk.Conditions = []v1beta2.Condition{{Type: v1beta2.DiskReady, Status: v1beta2.ConditionTrue}}
		n.Status.DiskStatus["d"] = disk
	})
	hold(t, DiskNotReady, "", map[string]row{
		"one is not":            {changes(unready), "disk d (d-uuid) is not ready; repair it, or remove it from the Node's spec."},
		"all are":               {changes(unready, ready), ""},
		"those of another node": {changes(unready, of("c")), ""},
	})
	require.Equal(t, []Kind{NodeNotReady}, kindsOf(world(empty, unready, notRunning("a"))),
		"without an instance manager no disk is ready, which is no blocker of its own")
	require.Equal(t, []Kind{UnknownNode}, kindsOf(world(empty, unready, ofNode("a", deletedNode))))
}

func TestASkippedVolumeIsDetached(t *testing.T) {
	skip := func(name string) func(*World) { return func(w *World) { w.Skip = []string{"other", name} } }
	hold(t, SkippedAttached, "vol", map[string]row{
		"it is attached":              {changes(skip("vol")), "named in spec.skipVolumes"},
		"another one is skipped":      {changes(skip("vol-2")), ""},
		"it has nothing on this node": {changes(skip("vol"), of("c")), ""},
		"it is detached": {changes(skip("vol"), ofObject(func(v *v1beta2.Volume) { v.Status.State = v1beta2.VolumeStateDetached })),
			""},
	})
}

// Without a healthy copy elsewhere the volume would fail with the instance manager; with the last one, with any failure.
func TestTwoHealthyReplicasOnTwoNodesAreLeftToServeFrom(t *testing.T) {
	replicas := func(nodes ...string) func(*World) {
		return ofVolume(func(v *cluster.Volume) {
			v.Replicas = nil
			for i, node := range nodes {
				addReplica(v, "r-"+string(rune('0'+i)), node)
			}
		})
	}
	hold(t, TooFewReplicas, "vol", map[string]row{
		"one here and one elsewhere": {changes(replicas("a", "b")), ""},
		"two elsewhere":              {changes(replicas("b", "c")), ""},
		"one here":                   {changes(replicas("a")), "it has 1 healthy replica(s) on 1 node(s), 0 of them on other nodes"},
		"one elsewhere":              {changes(replicas("b")), "it has 1 healthy replica(s) on 1 node(s), 1 of them on other nodes"},
		"two on the same other node": {changes(replicas("b", "b")), "it has 2 healthy replica(s) on 1 node(s), 2 of them on other nodes"},
		"two on one of two nodes":    {changes(replicas("c", "b", "b")), ""},
		"one of them has failed": {
			changes(ofEngine(func(e *v1beta2.Engine) { e.Status.ReplicaModeMap["vol-r-b"] = v1beta2.ReplicaModeERR })), "it has 1"},
		"one of them is on a dead node": {changes(down("b")), "it has 1 healthy replica(s) on 1 node(s), 0 of them on other nodes"},
	})
	require.Equal(t, []Kind{TooFewReplicas, TwoReplicas}, kindsOf(world(replicas("a", "a"))), "both are on the node of the upgrade")
}

func TestANodeHasOneReplicaOfAVolume(t *testing.T) {
	add := func(node string) func(*World) {
		return ofVolume(func(v *cluster.Volume) { addReplica(v, "second", node) })
	}
	hold(t, TwoReplicas, "vol", map[string]row{
		"two here":      {changes(add("a")), "replicas vol-r-a and second are both on this node"},
		"two elsewhere": {changes(add("b")), ""},
	})
}

func TestAVolumeIsHealthy(t *testing.T) {
	robustness := func(r string) func(*World) { return ofObject(func(v *v1beta2.Volume) { v.Status.Robustness = r }) }
	hold(t, Degraded, "vol", map[string]row{
		"degraded": {changes(robustness(v1beta2.VolumeRobustnessDegraded)), `its robustness is "degraded"`},
		"unknown":  {changes(robustness(v1beta2.VolumeRobustnessUnknown)), `its robustness is "unknown"`},
		"healthy":  {changes(robustness(v1beta2.VolumeRobustnessHealthy)), ""},
	})
}

func TestAUblkFrontendIsNotOnTheNode(t *testing.T) {
	ublk := ofObject(func(v *v1beta2.Volume) { v.Spec.Frontend = "ublk" })
	hold(t, UblkFrontend, "vol", map[string]row{
		"it is here":                       {changes(ublk), "its frontend is ublk"},
		"it is here, its engine elsewhere": {changes(ublk, moved("b")), "its frontend is ublk"},
		"its engine is here":               {changes(ublk, moved("b"), of("b")), "its frontend is ublk"},
		"only a replica is here":           {changes(ublk, of("b")), ""},
	})
}

func TestATargetOnTheNodeHasAFrontend(t *testing.T) {
	wanted := ofObject(func(v *v1beta2.Volume) { v.Spec.DisableFrontend = true })
	current := ofObject(func(v *v1beta2.Volume) { v.Status.FrontendDisabled = true })
	hold(t, NoFrontend, "vol", map[string]row{
		"it has none":             {changes(current), "attached without a frontend"},
		"it will have none":       {changes(wanted), "attached without a frontend"},
		"its engine is elsewhere": {changes(wanted, current, moved("c")), ""},
		"only a replica is here":  {changes(wanted, current, of("b")), ""},
	})
}

func TestTheFrontendsOfANodeAreOnRecord(t *testing.T) {
	records := func(list ...v1beta2.Condition) func(*World) {
		return ofManager("a", func(m *v1beta2.InstanceManager) { m.Status.Conditions = list })
	}
	lost := records(v1beta2.Condition{Type: v1beta2.InstanceManagerFrontendRecords, Status: v1beta2.ConditionFalse})
	hold(t, NotOnRecord, "vol", map[string]row{
		"they are":                                {nil, ""},
		"nothing is reported":                     {changes(records()), "instance manager im-a does not report"},
		"they are not":                            {changes(lost), "the pod of instance manager im-a has no mount at /metadata"},
		"the frontend is elsewhere":               {changes(lost, attachedTo("b")), ""},
		"its engine is elsewhere, and it is here": {changes(lost, moved("b")), "no mount at /metadata"},
	})
	require.Equal(t, []Kind{NodeNotReady}, kindsOf(world(lost, notRunning("a"))), "without a pod there is no frontend")
}
