package machine

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/attach-controller/internal/abandoned"
	"drover.dev/drover/shared/api/v1beta2"
)

// Kind is what a Write does.
type Kind string

// The kinds of writes.
const (
	Create        Kind = "create"
	Patch         Kind = "patch"
	Delete        Kind = "delete"
	DropFinalizer Kind = "drop-finalizer"
	// Abandon records instances of the Node as abandoned.
	Abandon Kind = "abandon"
)

// Stage orders writes: those of an earlier stage are complete before those of a later one begin.
type Stage int

// The stages of writes.
const (
	StageMake    Stage = iota // defaults of the volume, new engines and frontends, healthyAt of rebuilds that ended with their engine
	StageMark                 // failedAt, healthyAt, salvageRequested: before any instance starts or stops
	StageRun                  // what runs where, and over what
	StageAbandon              // abandoned instances are recorded before the finalizer of their object is dropped
	StageRemove               // deletions and finalizers
	stages       = int(StageRemove) + 1
)

// Write is one narrow change of one object. Every write carries the resourceVersion of Object that was evaluated.
type Write struct {
	Kind   Kind
	Stage  Stage
	Object metav1.Object
	// Spec are the keys under spec that change, Labels those of the labels.
	Spec   map[string]any
	Labels map[string]string
	// Finalizer adds Longhorn's finalizer.
	Finalizer bool
	// Record is what Abandon stores on a Node; Object is then released.
	Record abandoned.Record
	// Events are emitted on the Volume once this write succeeded, whatever becomes of the later ones.
	Events []Event
}

// Event is one event on the Volume, emitted after the write that it describes succeeded.
type Event struct {
	Reason, Note string
	Warning      bool
}

// Reads are the uncached reads that a verdict requests, each with another evaluation that replaces it.
type Reads struct {
	// Fresh requests uncached Engines and Replicas: the marks of replicas, and the choice of replicas for an engine, depend on the engine's
	// last report and on recent marks, which the cache may not show yet. [UPG-1]
	Fresh bool
	// FreshFrontends requests uncached frontends, too: an engine is about to stop, or to serve, because of the engine that a frontend
	// leads to. It comes with Fresh. [UPG-3]
	FreshFrontends bool
	// FreshVolume requests the uncached Volume, too: it is about to be filled, and the cache may not show yet that this ended and that it is
	// in use. It comes with Fresh.
	FreshVolume bool
	// FreshAttachment also requests the uncached VolumeAttachment, to see whether a user still wants the volume on its node. It comes with
	// Fresh.
	FreshAttachment bool
	// FreshNodes also requests the uncached Nodes: the verdict gives a replica up because its node is down. It comes with Fresh.
	FreshNodes bool
}

// With returns the reads of both.
func (r Reads) With(other Reads) Reads {
	return Reads{Fresh: r.Fresh || other.Fresh, FreshFrontends: r.FreshFrontends || other.FreshFrontends,
		FreshVolume: r.FreshVolume || other.FreshVolume, FreshAttachment: r.FreshAttachment || other.FreshAttachment,
		FreshNodes: r.FreshNodes || other.FreshNodes}
}

// Verdict is the result of one evaluation of the World.
type Verdict struct {
	// Reads must be done, and the World evaluated again, before anything of the rest counts.
	Reads
	// Writes are in order of their stages.
	Writes []Write
	// Status are the keys of Volume.status that change.
	Status map[string]any
	// Conditions are all of attach-controller's conditions on the Volume.
	Conditions []v1beta2.Condition
	// Events are emitted after Status was written.
	Events []Event
	// RequeueAt is when time alone changes the verdict; zero means never.
	RequeueAt time.Time
}

// DecideFresh decides, does the uncached reads that the verdict requests, and repeats that until no verdict requests a further read: a
// read may show that a further read is necessary. refresh does all of the given reads in the World.
func DecideFresh(w *World, refresh func(Reads) error) (Verdict, error) {
	var done Reads
	for {
		verdict := Decide(*w)
		wanted := done.With(verdict.Reads)
		if wanted == done {
			return verdict, nil
		}
		if err := refresh(wanted); err != nil {
			return Verdict{}, err
		}
		done = wanted
	}
}

// LetsGo reports whether the volume's finalizer is dropped: no object that belongs to the volume is left.
func (v Verdict) LetsGo(volume *v1beta2.Volume) bool {
	return slices.ContainsFunc(v.Writes, func(w Write) bool {
		of, ok := w.Object.(*v1beta2.Volume)
		return ok && of == volume && w.Kind == DropFinalizer
	})
}

// changes gathers the writes of an evaluation: one patch for each object, at the earliest stage that any of its keys needs, since a second
// patch would fail on the resourceVersion.
type changes struct {
	writes []*Write
}

// add adds a write that is no patch; an object that is already deleted is not deleted twice.
func (c *changes) add(w Write) {
	if c.find(w.Object, w.Kind) == nil {
		c.writes = append(c.writes, &w)
	}
}

// patch adds one key of an object's spec. stage is the latest: the one patch of the object is written at the earliest stage that was asked
// for, so that a replica that is marked and stopped is stopped when it is marked.
func (c *changes) patch(stage Stage, object metav1.Object, key string, value any) {
	c.writeTo(stage, object).Spec[key] = value
}

func (c *changes) label(stage Stage, object metav1.Object, key, value string) {
	w := c.writeTo(stage, object)
	if w.Labels == nil {
		w.Labels = map[string]string{}
	}
	w.Labels[key] = value
}

func (c *changes) writeTo(stage Stage, object metav1.Object) *Write {
	if w := c.find(object, Patch); w != nil {
		w.Stage = min(w.Stage, stage)
		return w
	}
	w := &Write{Kind: Patch, Stage: stage, Object: object, Spec: map[string]any{}}
	c.writes = append(c.writes, w)
	return w
}

func (c *changes) find(object metav1.Object, kind Kind) *Write {
	for _, w := range c.writes {
		if w.Kind == kind && w.Object.GetUID() == object.GetUID() && w.Object.GetName() == object.GetName() &&
			reflect.TypeOf(w.Object) == reflect.TypeOf(object) {
			return w
		}
	}
	return nil
}

// mergeWrites adds the writes of the next concern.
func (c *changes) mergeWrites(next []*Write) {
	for _, w := range next {
		switch w.Kind {
		case Patch:
			into := c.writeTo(w.Stage, w.Object)
			maps.Copy(into.Spec, w.Spec)
			for key, value := range w.Labels {
				c.label(w.Stage, w.Object, key, value)
			}
			into.Finalizer = into.Finalizer || w.Finalizer
			into.Events = append(into.Events, w.Events...)
		case Abandon:
			c.writes = append(c.writes, w)
		default:
			c.add(*w)
		}
	}
}

// list returns the writes in order of their stages. A patched object is not deleted in the same evaluation, because its resourceVersion
// changes.
func (c *changes) list() []Write {
	var out []Write
	for stage := range Stage(stages) {
		for _, w := range c.writes {
			ends := w.Kind == Delete || w.Kind == DropFinalizer
			if w.Stage == stage && !(ends && c.find(w.Object, Patch) != nil) {
				out = append(out, *w)
			}
		}
	}
	return out
}

func same(a, b map[string]string) bool { return maps.Equal(a, b) }

// size is an int64 as these objects hold it: a string.
func size(n int64) string { return strconv.FormatInt(n, 10) }

func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }
