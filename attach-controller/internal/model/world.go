package model

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"drover.dev/drover/shared/api/v1beta2"
)

const (
	volumeName = "v"
	fromBackup = "s3://backups?backup=b&volume=" + volumeName
	// tick is how long a step takes.
	tick = 200 * time.Millisecond
	// unit is the size of a volume, and by which it is enlarged.
	unit = 1 << 30
)

// kind is the kind of events in a world.
type kind int

const (
	// busy: everything.
	busy kind = iota
	// plain: pods move and failures happen, nothing else.
	plain
	// idle: there are no pods and no people.
	idle
)

// world is a small cluster with one volume.
type world struct {
	rng  *rand.Rand
	step int
	now  time.Time
	// staleness is how often a read shows the previous version, crashes how often a pass ends after a write.
	staleness, crashes float64
	// dirty reports whether there was a write since it was cleared.
	dirty bool

	volume     slot[v1beta2.Volume]
	attachment slot[v1beta2.VolumeAttachment]
	share      slot[v1beta2.ShareManager]
	engines    []*slot[v1beta2.Engine]
	frontends  []*slot[v1beta2.EngineFrontend]
	replicas   []*slot[v1beta2.Replica]
	// engineType is the volume's data engine.
	engineType string
	nodes      []*node
	names      int

	actors []actor
	plane  plane
	users  users

	// broken is the first invariant that did not hold; log is what happened, if it is recorded.
	broken string
	// untold counts the quiet rounds in a row with a wait that no condition explains, rounds counts all quiet rounds, and reasons has the
	// reasons of the waits of the settled world.
	untold, rounds int
	reasons        []string
	// moves reports whether an upgrade relocates the volume's target.
	moves bool
	// jitter lets im-monitor act once or twice in a quiet round.
	jitter bool
	keeps  bool
	quiet  bool
	kind   kind
	log    []string
}

// node is one node: its object, and its real state.
type node struct {
	slot[v1beta2.Node]
	name string
	// reachable is false in a partition and in an outage, alive only in an outage.
	reachable, alive bool
}

// newWorld creates a volume in state creating, with its replicas placed.
func newWorld(seed uint64) *world {
	w := &world{rng: rand.New(rand.NewPCG(seed, 7)), now: time.Date(2026, 9, 1, 12, 0, 0, 0, time.UTC)}
	w.kind = []kind{busy, busy, plain, plain, idle}[w.rng.IntN(5)]
	w.plane.versions, w.plane.givenUp, w.plane.markedAt = map[string]int{}, map[string]bool{}, map[string]int{}
	for i := range 3 + w.rng.IntN(2) {
		n := &node{name: fmt.Sprintf("node-%d", i+1), reachable: true, alive: true}
		n.now = &v1beta2.Node{ObjectMeta: metav1.ObjectMeta{Name: n.name}}
		n.now.Status.Conditions = nodeConditions(true, false)
		n.before = n.now
		w.nodes = append(w.nodes, n)
	}
	v := w.newVolume()
	w.engineType = v.Spec.DataEngine
	w.moves = seed%2 == 0 && v.Spec.DataEngine == v1beta2.DataEngineV2
	w.volume = slot[v1beta2.Volume]{now: v, before: v}
	a := &v1beta2.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: volumeName, Generation: 1}}
	a.Spec.Volume = volumeName
	w.attachment = slot[v1beta2.VolumeAttachment]{now: a, before: a}
	s := &v1beta2.ShareManager{ObjectMeta: metav1.ObjectMeta{Name: volumeName, UID: "share"}}
	w.share = slot[v1beta2.ShareManager]{now: s, before: s}
	for _, i := range w.rng.Perm(len(w.nodes))[:v.Spec.NumberOfReplicas] {
		w.newReplica(w.nodes[i].name, 0)
	}
	w.users = w.newUsers()
	if w.chance(0.05) { // it comes from another cluster, and was attached there
		v.Spec.NodeID = w.nodes[0].name
		w.users.pods[v.Spec.NodeID] = true
		w.ask()
	}
	return w
}

func (w *world) newVolume() *v1beta2.Volume {
	v := &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: volumeName, UID: "volume", Finalizers: []string{v1beta2.Finalizer},
		Labels: map[string]string{v1beta2.LabelVolume: v1beta2.VolumeLabelValue(volumeName)}}}
	v.Spec = v1beta2.VolumeSpec{DataEngine: v1beta2.DataEngineV1, AccessMode: v1beta2.AccessModeReadWriteOnce, Size: unit, Image: "image",
		NumberOfReplicas: 1 + w.rng.IntN(3), DataLocality: "disabled", Frontend: "blockdev", OfflineRebuilding: "disabled"}
	if w.chance(0.5) {
		v.Spec.DataEngine = v1beta2.DataEngineV2
	}
	switch w.rng.IntN(4) {
	case 0, 1:
		if w.kind != plain && w.chance(0.5) {
			break
		}
		v.Spec.AccessMode, v.Spec.Migratable = v1beta2.AccessModeReadWriteMany, true
	case 2:
		v.Spec.AccessMode = v1beta2.AccessModeReadWriteMany
	}
	if w.chance(0.5) {
		v.Spec.OfflineRebuilding = "enabled"
	}
	if w.kind == plain {
		return v
	}
	switch w.rng.IntN(10) {
	case 0:
		v.Spec.FromBackup = fromBackup
	case 1:
		v.Spec.DataSource = "snap://source/s"
	}
	return v
}

// newReplica places a replica; version is that of its data, noData if it has none.
func (w *world) newReplica(node string, version int) *slot[v1beta2.Replica] {
	r := &v1beta2.Replica{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("r-%d", w.names), Finalizers: []string{v1beta2.Finalizer}}}
	w.names++
	r.UID = types.UID(r.Name)
	r.Spec = v1beta2.ReplicaSpec{NodeID: node, VolumeName: volumeName, DesireState: v1beta2.InstanceStateStopped, VolumeSize: unit,
		Active: true, DataDirectoryName: r.Name, DataEngine: w.engineType}
	w.plane.versions[r.Name] = version
	s := &slot[v1beta2.Replica]{now: r, changed: w.step}
	if w.step == 0 {
		s.before = r
	}
	w.replicas = append(w.replicas, s)
	return s
}

func (w *world) chance(p float64) bool { return p > 0 && w.rng.Float64() < p }

func (w *world) trace(format string, values ...any) {
	if w.keeps {
		w.log = append(w.log, fmt.Sprintf("%4d ", w.step)+fmt.Sprintf(format, values...))
	}
}

// violated records that an invariant does not hold; only the first one counts.
func (w *world) violated(format string, values ...any) {
	if w.broken == "" {
		w.broken = fmt.Sprintf(format, values...)
	}
	w.trace("!! "+format, values...)
}

// node finds a node; nil: there is none of that name.
func (w *world) node(name string) *node {
	i := slices.IndexFunc(w.nodes, func(n *node) bool { return n.name == name })
	if i < 0 {
		return nil
	}
	return w.nodes[i]
}

func (w *world) reachable(name string) bool {
	n := w.node(name)
	return n != nil && n.reachable
}

// down reports whether the node's object shows it as down.
func (w *world) down(name string) bool {
	n := w.node(name)
	return n == nil || v1beta2.IsNodeDown(n.now)
}

func (w *world) v2() bool { return w.volume.now.Spec.DataEngine == v1beta2.DataEngineV2 }

// forget drops deleted objects that no cache shows any more.
func (w *world) forget() {
	w.engines, w.frontends, w.replicas = kept(w, w.engines), kept(w, w.frontends), kept(w, w.replicas)
}

func kept[T any](w *world, slots []*slot[T]) []*slot[T] {
	return slices.DeleteFunc(slots, func(s *slot[T]) bool { return s.now == nil && w.step-s.changed >= memory })
}

func nodeConditions(ready, cordoned bool) []v1beta2.Condition {
	out := []v1beta2.Condition{
		{Type: v1beta2.NodeReady, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonNodeReady},
		{Type: v1beta2.NodeSchedulable, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonSchedulable},
	}
	if !ready {
		out[0].Status, out[0].Reason = v1beta2.ConditionFalse, v1beta2.ReasonKubernetesNodeNotReady
	}
	if cordoned {
		out[1].Status, out[1].Reason = v1beta2.ConditionFalse, v1beta2.ReasonKubernetesNodeCordoned
	}
	return out
}
