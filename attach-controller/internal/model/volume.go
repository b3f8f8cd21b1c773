package model

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"drover.dev/drover/attach-controller/internal/machine"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// runVolume is one pass of machine.Decide, applied as its reconciler does: the writes of a stage in any order, stage after stage, the
// volume's status last.
func (w *world) runVolume() {
	facts := w.machineWorld()
	verdict, _ := machine.DecideFresh(&facts, func(wants machine.Reads) error {
		w.refresh(&facts, wants)
		return nil
	})
	for _, one := range w.inAnyOrder(verdict.Writes) {
		if !w.applyMachine(facts, one) {
			return
		}
	}
	ofVolume := func(one machine.Write) bool { return one.Object.GetUID() == facts.Volume.UID }
	if !slices.ContainsFunc(verdict.Writes, ofVolume) { // else its resourceVersion changed: the status is left to the next pass
		w.volumeStatus(facts.Volume, verdict)
	}
}

func (w *world) machineWorld() machine.World {
	out := machine.World{Now: w.now, Volume: read(w, &w.volume), Attachment: read(w, &w.attachment), Nodes: map[string]machine.Node{},
		Settings: machine.Settings{AutoSalvage: true, DefaultEngineImage: "image", DefaultReplicas: 3}}
	out.Engines, out.Frontends, out.Replicas = all(w, w.engines), all(w, w.frontends), all(w, w.replicas)
	byName(out.Engines, func(e *v1beta2.Engine) string { return e.Name })
	byName(out.Frontends, func(f *v1beta2.EngineFrontend) string { return f.Name })
	byName(out.Replicas, func(r *v1beta2.Replica) string { return r.Name })
	for _, n := range w.nodes {
		out.Nodes[n.name] = machineNode(read(w, &n.slot))
	}
	if out.Volume.Spec.DataSource != "" {
		out.Source, out.SourceVolume = &v1beta2.Engine{}, &v1beta2.Volume{}
		out.Source.Status.Snapshots = map[string]v1beta2.SnapshotInfo{"s": {Name: "s"}}
	}
	return out
}

func machineNode(n *v1beta2.Node) machine.Node {
	return machine.Node{Known: true, Down: v1beta2.IsNodeDown(n), Upgrading: n.Spec.UpgradeRequested}
}

// refresh reads what a verdict requests again, uncached.
func (w *world) refresh(facts *machine.World, wants machine.Reads) {
	if wants.FreshVolume {
		facts.Volume = w.volume.now
	}
	if wants.FreshNodes {
		for _, n := range w.nodes {
			facts.Nodes[n.name] = machineNode(n.now)
		}
	}
	facts.Engines, facts.Replicas = again(w.engines, facts.Engines), again(w.replicas, facts.Replicas)
}

func again[T any](slots []*slot[T], seen []*T) []*T {
	var out []*T
	for _, object := range seen {
		if s := owner(slots, object); s.now != nil {
			out = append(out, s.now)
		}
	}
	return out
}

func byName[T any](list []*T, name func(*T) string) {
	slices.SortFunc(list, func(a, b *T) int { return cmp.Compare(name(a), name(b)) })
}

// inAnyOrder shuffles the writes of each stage.
func (w *world) inAnyOrder(writes []machine.Write) []machine.Write {
	for i := range writes {
		j := i + w.rng.IntN(len(writes)-i)
		if writes[i].Stage == writes[j].Stage {
			writes[i], writes[j] = writes[j], writes[i]
		}
	}
	return writes
}

// applyMachine does one write and reports whether the pass continues.
func (w *world) applyMachine(facts machine.World, one machine.Write) bool {
	w.trace("machine: %s %T %s %v", one.Kind, one.Object, one.Object.GetName(), one.Spec)
	switch o := one.Object.(type) {
	case *v1beta2.Engine:
		return apply(w, &w.engines, o, &o.ObjectMeta, one, func(e *v1beta2.Engine) { merge(&e.Spec, one.Spec) }, engineMeta)
	case *v1beta2.EngineFrontend:
		return apply(w, &w.frontends, o, &o.ObjectMeta, one, func(f *v1beta2.EngineFrontend) { merge(&f.Spec, one.Spec) }, frontendMeta)
	case *v1beta2.Replica:
		w.checkReplicaWrite(o, one)
		return apply(w, &w.replicas, o, &o.ObjectMeta, one, func(r *v1beta2.Replica) { merge(&r.Spec, one.Spec) }, replicaMeta)
	}
	return write(w, &w.volume, facts.Volume, func(v *v1beta2.Volume) { merge(&v.Spec, one.Spec) })
}

func engineMeta(e *v1beta2.Engine) *metav1.ObjectMeta           { return &e.ObjectMeta }
func frontendMeta(f *v1beta2.EngineFrontend) *metav1.ObjectMeta { return &f.ObjectMeta }
func replicaMeta(r *v1beta2.Replica) *metav1.ObjectMeta         { return &r.ObjectMeta }

// apply does one write to an object of a list.
func apply[T any](w *world, slots *[]*slot[T], object *T, meta *metav1.ObjectMeta, one machine.Write, patch func(*T),
	metaOf func(*T) *metav1.ObjectMeta) bool {
	if one.Kind == machine.Create {
		return create(w, slots, object, meta, metaOf)
	}
	s := owner(*slots, object)
	if s == nil || s.now == nil || metaOf(s.now).UID != meta.UID {
		return one.Kind != machine.Patch // the object to delete is gone
	}
	switch one.Kind {
	case machine.Delete:
		if metaOf(s.now).DeletionTimestamp != nil {
			return true
		}
		return write(w, s, nil, func(o *T) { metaOf(o).DeletionTimestamp = &metav1.Time{Time: w.now} })
	case machine.DropFinalizer:
		return put(w, s, nil)
	}
	return write(w, s, object, patch)
}

// create stores a new object, unless there is one of its name.
func create[T any](w *world, slots *[]*slot[T], object *T, meta *metav1.ObjectMeta, metaOf func(*T) *metav1.ObjectMeta) bool {
	for _, s := range *slots {
		if s.now != nil && metaOf(s.now).Name == meta.Name {
			return true
		}
	}
	next := *object
	w.names++
	metaOf(&next).UID = types.UID(fmt.Sprintf("%s-%d", meta.Name, w.names))
	s := &slot[T]{}
	*slots = append(*slots, s)
	return put(w, s, &next)
}

// volumeStatus writes the verdict's status of the volume, at the evaluated resourceVersion.
func (w *world) volumeStatus(evaluated *v1beta2.Volume, verdict machine.Verdict) {
	own := conditions.Owned(evaluated.Status.Conditions, v1beta2.VolumeAttached, v1beta2.VolumeFaulted)
	if len(verdict.Status) == 0 && conditions.Equal(own, verdict.Conditions) {
		return
	}
	text, err := json.Marshal(verdict.Status) // a pointer among them would print as another address in each run
	if err != nil {
		panic(err)
	}
	w.trace("machine: status %s", text)
	write(w, &w.volume, evaluated, func(v *v1beta2.Volume) {
		merge(&v.Status, verdict.Status)
		v.Status.Conditions = verdict.Conditions
	})
}
