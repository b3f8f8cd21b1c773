// Package orphans derives from Orphan objects what runs or lies where, why it is orphaned, and what deleting the Orphan would do. It names
// instances, not the hashed names of the objects. It imports no client.
package orphans

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// Orphan is one orphan in an operator's terms.
type Orphan struct {
	// Instance is the name of the instance, or of the data on the disk.
	Instance   string `json:"instance"`
	Node       string `json:"node"`
	Type       string `json:"type"`
	DataEngine string `json:"dataEngine"`
	// Object is the name of the Orphan.
	Object string `json:"object"`
	UUID   string `json:"uuid,omitempty"`
	// Place is the instance manager, or the disk of data.
	Place string `json:"place,omitempty"`
	State string `json:"state,omitempty"`
	// Volume is that of the instance's name; empty where the name has another form.
	Volume string `json:"volume,omitempty"`
	// Orphaned, Decision, Failed and Withdrawn are the conditions of the Orphan.
	Orphaned  Condition `json:"orphaned,omitzero"`
	Decision  Condition `json:"decision,omitzero"`
	Failed    Condition `json:"failed,omitzero"`
	Withdrawn Condition `json:"withdrawn,omitzero"`
	// DeletedSince is the RFC 3339 time at which the Orphan was deleted, DeletedBy person or the policy; empty while it is not deleted.
	DeletedSince string `json:"deletedSince,omitempty"`
	DeletedBy    string `json:"deletedBy,omitempty"`
	// Releasable: a policy deleted it, and holds it back; a person who names it releases it.
	Releasable bool   `json:"releasable,omitempty"`
	Created    string `json:"created,omitempty"`
	// GivenUpBy is who recorded that it is given up, and when; empty: nobody did.
	GivenUpBy string `json:"givenUpBy,omitempty"`
	// Effect is what deleting the Orphan does, as a sentence.
	Effect string `json:"effect"`
	// DestroysData: the effect may destroy data.
	DestroysData bool `json:"destroysData"`
	// Warnings are sentences on what to consider before.
	Warnings []string `json:"warnings,omitempty"`

	// Held is why only a person who names the orphan deletes it, as a sentence; empty where a selector may, too.
	Held string `json:"held,omitempty"`

	// recorded reports whether it is recorded as given up, by whomever.
	recorded bool
}

// Condition is what one condition of the Orphan says; without a reason it says nothing.
type Condition struct {
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// List returns all orphans by instance and node.
func List(w *world.World) []Orphan {
	out := make([]Orphan, 0, len(w.Orphans.Items))
	for i := range w.Orphans.Items {
		out = append(out, one(w, &w.Orphans.Items[i]))
	}
	slices.SortFunc(out, func(a, b Orphan) int {
		return cmp.Or(cmp.Compare(a.Instance, b.Instance), cmp.Compare(a.Node, b.Node), cmp.Compare(a.Type, b.Type), cmp.Compare(a.Object,
			b.Object))
	})
	return out
}

func one(w *world.World, object *v1beta2.Orphan) Orphan {
	parameters, list := object.Spec.Parameters, object.Status.Conditions
	o := Orphan{
		Instance: cmp.Or(parameters[v1beta2.OrphanParameterInstanceName], parameters[v1beta2.OrphanParameterDataName], object.Name),
		Node:     object.Spec.NodeID, Type: object.Spec.OrphanType, DataEngine: dataEngine(object), Object: object.Name,
		UUID:  parameters[v1beta2.OrphanParameterInstanceUUID],
		Place: cmp.Or(parameters[v1beta2.OrphanParameterInstanceManager], parameters[v1beta2.OrphanParameterDiskName]),
		State: conditions.Reason(list, v1beta2.OrphanInstanceState), Created: timeText(object.CreationTimestamp.Time),
		Orphaned: said(list, v1beta2.OrphanOrphaned), Decision: said(list, v1beta2.OrphanCleanupApproved),
		Withdrawn: whileTrue(list, v1beta2.OrphanWithdrawn), Failed: whileTrue(list, v1beta2.OrphanCleanupFailed),
	}
	o.Volume = cmp.Or(v1beta2.VolumeOfReplicaName(o.Instance), v1beta2.VolumeOfEngineName(o.Instance))
	if object.DeletionTimestamp != nil {
		o.DeletedSince = timeText(object.DeletionTimestamp.Time)
		o.DeletedBy = cmp.Or(conditions.Reason(list, v1beta2.OrphanDeletionReason), "person")
		o.Releasable = o.DeletedBy != "person" && !v1beta2.DeletedByHand(object) && o.Withdrawn.Reason == "" &&
			(slices.Contains(yielding, o.Decision.Reason) || o.Failed.Reason == v1beta2.ReasonLastCopy)
	}
	if v1beta2.GivenUp(object) {
		o.GivenUpBy = cmp.Or(object.Annotations[v1beta2.AnnotationGivenUpBy], "unknown")
	}
	o.recorded = recorded(w, object)
	o.addEffect(w, object)
	o.Held = o.heldBy(w, object)
	return o
}

func timeText(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// dataEngine is v2 for data on a block disk, and v1 where nothing else is recorded.
func dataEngine(object *v1beta2.Orphan) string {
	if object.Spec.Parameters[v1beta2.OrphanParameterDiskType] == v1beta2.DiskTypeBlock {
		return v1beta2.DataEngineV2
	}
	return world.DataEngine(object.Spec.DataEngine)
}

func said(list []v1beta2.Condition, kind string) Condition {
	if c := conditions.Get(list, kind); c != nil {
		return Condition{Reason: v1beta2.PresentReason(kind, c.Reason), Message: c.Message}
	}
	return Condition{}
}

// whileTrue is said for conditions that say something only while they are True.
func whileTrue(list []v1beta2.Condition, kind string) Condition {
	if conditions.IsTrue(list, kind) {
		return said(list, kind)
	}
	return Condition{}
}

// addEffect states what im-monitor would do. It evaluates everything again before a call; this is as of the objects that were read.
func (o *Orphan) addEffect(w *world.World, object *v1beta2.Orphan) {
	switch {
	case o.Withdrawn.Reason != "":
		o.Effect = "Only the Orphan goes: it was withdrawn."
	case o.Type == v1beta2.OrphanTypeReplicaData && o.DataEngine == v1beta2.DataEngineV1:
		o.Effect = "Only the Orphan goes: the directory stays on the disk, remove it there by hand."
	case o.Type == v1beta2.OrphanTypeEngineInstance:
		o.Effect = fmt.Sprintf("Ends the engine on node %s.", o.Node)
		if o.Orphaned.Reason == v1beta2.ReasonNoOwnerCR {
			o.Effect = fmt.Sprintf("Ends the engine on node %s; a volume without objects may still be using it.", o.Node)
		}
	case o.DataEngine == v1beta2.DataEngineV1:
		o.Effect = fmt.Sprintf("Ends the process on node %s; the data stays on the disk.", o.Node)
	case claims(replicaOf(w, o.Instance), o.Node):
		o.Effect = fmt.Sprintf("Ends the instance on node %s; its data stays, Replica %s claims it.", o.Node, o.Instance)
	default:
		o.DestroysData = true
		o.Effect = fmt.Sprintf("Destroys the replica's data on node %s.", o.Node)
		o.addWarnings(w)
	}
	if object.DeletionTimestamp != nil && !o.Releasable {
		o.Effect = "Nothing more: it is deleted already."
	}
}

// addWarnings is about data that would be destroyed.
func (o *Orphan) addWarnings(w *world.World) {
	if why := o.lastCopy(w); why != "" {
		o.Warnings = append(o.Warnings, why)
	} else if !volumeExists(w, o.Volume) {
		o.Warnings = append(o.Warnings, fmt.Sprintf("Volume %s does not exist: it was deleted, or its objects are missing, as after etcd was "+
			"restored.", o.Volume))
	} else {
		o.Warnings = append(o.Warnings, fmt.Sprintf("Volume %s has %d other replicas that are whole and in use.", o.Volume, o.otherCopies(w)))
	}
	if o.Orphaned.Reason == v1beta2.ReasonForeignData {
		o.Warnings = append(o.Warnings, "The data came with its disk, and may be another cluster's.")
	}
}

func replicaOf(w *world.World, name string) *v1beta2.Replica {
	for i := range w.Replicas.Items {
		if w.Replicas.Items[i].Name == name {
			return &w.Replicas.Items[i]
		}
	}
	return nil
}

// claims reports whether a Replica keeps the data on the node: all do that do not name another node.
func claims(r *v1beta2.Replica, node string) bool {
	return r != nil && (r.Spec.NodeID == "" || r.Spec.NodeID == node)
}
