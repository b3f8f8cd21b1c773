package snapshot

import (
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

var noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

// world is an attached volume whose engine lists no snapshot yet, and a Snapshot that must be taken; change what differs.
func world(changes ...func(*World)) World {
	v := &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: "vol-1", UID: "v-uid", CreationTimestamp: at(-60)}}
	v.Spec.NodeID, v.Spec.Size = "node-1", 1000
	v.Status.State = v1beta2.VolumeStateAttached
	s := &v1beta2.Snapshot{ObjectMeta: metav1.ObjectMeta{
		Name: "snap-1", UID: "s-uid", CreationTimestamp: at(0), Finalizers: []string{v1beta2.Finalizer},
		Labels: map[string]string{v1beta2.LabelVolume: "vol-1"}, OwnerReferences: []metav1.OwnerReference{v1beta2.OwnedBy(v)},
	}}
	s.Spec.Volume, s.Spec.CreateSnapshot = "vol-1", true
	e := &v1beta2.Engine{}
	e.Spec.Active = true
	e.Status.CurrentState = v1beta2.InstanceStateRunning
	e.Status.Snapshots = map[string]v1beta2.SnapshotInfo{v1beta2.VolumeHead: {Name: v1beta2.VolumeHead}}
	w := World{
		Now: noon, Snapshot: s, Volume: v, Engine: e, Candidate: "node-1",
		Attachment: &v1beta2.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: "vol-1"}}, Settings: Settings{MaxCount: 250},
	}
	for _, change := range changes {
		change(&w)
	}
	return w
}

func at(minutes int) metav1.Time {
	return metav1.NewTime(noon.Add(time.Duration(minutes) * time.Minute))
}

func detached(w *World) {
	w.Volume.Status.State, w.Volume.Spec.NodeID = v1beta2.VolumeStateDetached, ""
	w.Engine.Status.CurrentState = v1beta2.InstanceStateStopped
}

// unknown: its node does not answer.
func unknown(w *World) { w.Engine.Status.CurrentState = v1beta2.InstanceStateUnknown }

// going: somebody deleted the engine, which runs.
func going(w *World) {
	now := at(0)
	w.Engine.DeletionTimestamp = &now
}

// listed: the engine has it.
func listed(w *World) {
	w.Engine.Status.Snapshots["snap-1"] = v1beta2.SnapshotInfo{Name: "snap-1", Created: "2026-08-01T11:00:00Z", Size: "42",
		Children: map[string]bool{v1beta2.VolumeHead: true}}
}

// taken: it was in the engine, and that was noted.
func taken(w *World) {
	w.Snapshot.Status.RequestedTime, w.Snapshot.Status.CreationTime = "2026-08-01T10:59:00Z", "2026-08-01T11:00:00Z"
}

func requested(w *World) { w.Snapshot.Status.RequestedTime = "2026-08-01T10:59:00Z" }

func deleted(w *World) {
	when := at(1)
	w.Snapshot.DeletionTimestamp = &when
}

func marked(w *World) {
	info := w.Engine.Status.Snapshots["snap-1"]
	info.Removed = true
	w.Engine.Status.Snapshots["snap-1"] = info
}

// retried: it was asked for after the engine had refused.
func retried(w *World) {
	failed(w)
	shown := w.Snapshot.Status.Conditions
	shown[len(shown)-1].LastProbeTime = "2026-08-01T10:58:59.5Z"
}

// refusedAgo: it was asked for so long ago, refused a moment later, and was first refused that long before.
func refusedAgo(asked, failing time.Duration) func(*World) {
	return func(w *World) {
		at := noon.Add(-asked)
		w.Snapshot.Status.RequestedTime = text(at)
		shown(w, v1beta2.SnapshotProvisioned, v1beta2.ConditionFalse, v1beta2.ReasonFailed, at.Add(100*time.Millisecond), failing)
	}
}

// unremovedAgo: its removal was approved so long ago, failed a moment later, and first failed that long before.
func unremovedAgo(approved, failing time.Duration) func(*World) {
	return func(w *World) {
		at := noon.Add(-approved)
		put(w, v1beta2.Condition{Type: v1beta2.SnapshotRemovalApproved,
			Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonRequested, Message: "Nothing stands against removing its data.",
			LastTransitionTime: text(at)})
		shown(w, v1beta2.SnapshotRemovalFailed, v1beta2.ConditionTrue, v1beta2.ReasonPurgeFailed, at.Add(100*time.Millisecond), failing)
	}
}

func shown(w *World, conditionType string, status v1beta2.ConditionStatus, reason string, at time.Time, failing time.Duration) {
	put(w, v1beta2.Condition{Type: conditionType, Status: status, Reason: reason,
		Message: "disk on fire", LastProbeTime: at.Format(time.RFC3339Nano), LastTransitionTime: text(at.Add(-failing))})
}

// put returns what is reported last of each type.
func put(w *World, c v1beta2.Condition) {
	w.Snapshot.Status.Conditions = append(conditions.Remove(w.Snapshot.Status.Conditions, c.Type), c)
}

func standby(w *World) {
	w.Volume.Spec.Standby, w.Volume.Status.IsStandby, w.Volume.Status.RestoreRequired = true, true, true
}

func restoring(w *World) { w.Volume.Status.RestoreRequired = true }

func cloning(w *World) { w.Volume.Status.CloneStatus.State = v1beta2.CloneInitiated }

func system(w *World) { w.Snapshot.Spec.CreateSnapshot = false }

func holdsTicket(w *World) {
	id := TicketID("snap-1")
	t := World.wanted(*w)
	w.Attachment.Spec.AttachmentTickets = map[string]v1beta2.AttachmentTicket{id: *t}
}

func condition(conditionType string, status v1beta2.ConditionStatus, reason string) func(*World) {
	return func(w *World) {
		put(w, v1beta2.Condition{Type: conditionType, Status: status, Reason: reason, Message: "disk on fire"})
	}
}

var (
	approved  = condition(v1beta2.SnapshotRemovalApproved, v1beta2.ConditionTrue, v1beta2.ReasonRequested)
	failed    = condition(v1beta2.SnapshotProvisioned, v1beta2.ConditionFalse, v1beta2.ReasonFailed)
	cancelled = condition(v1beta2.SnapshotProvisioned, v1beta2.ConditionFalse, v1beta2.ReasonCancelled)
	withdrawn = condition(v1beta2.SnapshotWithdrawn, v1beta2.ConditionTrue, v1beta2.ReasonSnapshotGone)
	granted   = func(w *World) { w.Place = PlaceGranted }
	refused   = func(w *World) { w.Place = PlaceRefused }
)

func owner(uid types.UID) func(*World) {
	return func(w *World) {
		reference := v1beta2.OwnedBy(w.Volume)
		reference.UID = uid
		w.Snapshot.OwnerReferences = []metav1.OwnerReference{reference}
	}
}

func noOwner(w *World) { w.Snapshot.OwnerReferences = nil }

// settled plays the writes until nothing is left to write, and returns the world then and the steps.
func settled(t require.TestingT, w World) (World, []Step) {
	var steps []Step
	for range 12 {
		v := Decide(w)
		if v.Step == StepNone {
			return w, steps
		}
		steps = append(steps, v.Step)
		if w = played(w, v); w.Snapshot == nil {
			return w, steps
		}
	}
	require.Fail(t, "it writes without end", "%v", steps)
	return w, steps
}

// played is the world after the verdict's write; no snapshot: it is gone.
func played(w World, v Verdict) World {
	s, a := w.Snapshot.DeepCopy(), w.Attachment.DeepCopy()
	switch v.Step {
	case StepRepair:
		s.Finalizers, s.Labels = []string{v1beta2.Finalizer}, map[string]string{v1beta2.LabelVolume: v1beta2.LabelValue(s.Spec.Volume)}
		if w.Volume != nil && UID(s) == "" {
			s.OwnerReferences = append(s.OwnerReferences, v1beta2.OwnedBy(w.Volume))
		}
	case StepTakeTicket:
		if a.Spec.AttachmentTickets == nil {
			a.Spec.AttachmentTickets = map[string]v1beta2.AttachmentTicket{}
		}
		a.Spec.AttachmentTickets[v.Ticket.ID] = *v.Ticket
	case StepDropTicket:
		delete(a.Spec.AttachmentTickets, TicketID(s.Name))
	case StepStatus:
		foreign := s.Status.Conditions
		s.Status = v.Status
		for _, c := range foreign {
			if c.Type != v1beta2.SnapshotReady && c.Type != v1beta2.SnapshotRemovalApproved {
				s.Status.Conditions = append(s.Status.Conditions, c)
			}
		}
	case StepDelete:
		now := metav1.NewTime(w.Now)
		s.DeletionTimestamp = &now
	case StepDropFinalizer:
		s = nil
	}
	w.Snapshot, w.Attachment = s, a
	return w
}
