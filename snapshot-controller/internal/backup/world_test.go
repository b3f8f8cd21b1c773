package backup

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

var noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

// world is a Backup of a ready snapshot of an attached volume, with a target; change what differs.
func world(changes ...func(*World)) World {
	v := &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: "vol-1", UID: "v-uid"}}
	v.Spec.NodeID, v.Status.State = "node-1", v1beta2.VolumeStateAttached
	s := &v1beta2.Snapshot{ObjectMeta: metav1.ObjectMeta{Name: "snap-1",
		OwnerReferences: []metav1.OwnerReference{v1beta2.OwnedBy(v)}}}
	s.Spec.Volume = "vol-1"
	s.Status.Conditions = []v1beta2.Condition{{Type: v1beta2.SnapshotReady, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonReady}}
	b := &v1beta2.Backup{ObjectMeta: metav1.ObjectMeta{
		Name: "backup-1", UID: "b-uid", Generation: 1, Finalizers: []string{v1beta2.Finalizer},
		Labels: map[string]string{v1beta2.LabelBackupVolume: "vol-1"},
	}}
	b.Spec.SnapshotName = "snap-1"
	e := &v1beta2.Engine{}
	e.Spec.Active, e.Status.CurrentState = true, v1beta2.InstanceStateRunning
	t := &v1beta2.BackupTarget{ObjectMeta: metav1.ObjectMeta{Name: "default", Generation: 2}}
	t.Spec.BackupTargetURL = "nfs://server/path"
	w := World{
		Now: noon, Backup: b, Snapshot: s, Volume: v, Engine: e, Target: t, TargetName: "default", Candidate: "node-1",
		Attachment: &v1beta2.VolumeAttachment{ObjectMeta: metav1.ObjectMeta{Name: "vol-1"}},
	}
	for _, change := range changes {
		change(&w)
	}
	return w
}

func detached(w *World) {
	w.Volume.Status.State, w.Volume.Spec.NodeID = v1beta2.VolumeStateDetached, ""
	w.Engine.Status.CurrentState = v1beta2.InstanceStateStopped
}

func restoring(w *World) { w.Volume.Status.RestoreRequired = true }

func v2(w *World) { w.Volume.Spec.DataEngine = v1beta2.DataEngineV2 }

// relocated: the target is on another node, as an upgrade has it.
func relocated(w *World) { w.Volume.Spec.TargetNodeID = "node-2" }

// upgrading: the second of the volume's nodes is under upgrade.
func upgrading(w *World) {
	node := func(name string, requested bool) *v1beta2.Node {
		return &v1beta2.Node{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1beta2.NodeSpec{UpgradeRequested: requested}}
	}
	w.Nodes = []*v1beta2.Node{node("node-1", false), node("node-3", true)}
}

func deleted(w *World) {
	when := metav1.NewTime(noon)
	w.Backup.DeletionTimestamp = &when
}

func state(is string) func(*World) { return func(w *World) { w.Backup.Status.State = is } }

// holdsTicket: and it is answered.
func holdsTicket(w *World) {
	asks(w)
	ticket := w.ticket()
	w.Attachment.Status.AttachmentTicketStatuses = map[string]v1beta2.AttachmentTicketStatus{ticket.ID: {ID: ticket.ID,
		Generation: ticket.Generation,
		Conditions: []v1beta2.Condition{{Type: v1beta2.TicketSatisfied, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonSatisfied}}}}
}

// asks: the ticket is there, and not answered yet.
func asks(w *World) {
	w.Attachment.Spec.AttachmentTickets = map[string]v1beta2.AttachmentTicket{TicketID("backup-1"): *w.wanted()}
}

// asksAgain: an earlier ticket was answered.
func asksAgain(w *World) {
	holdsTicket(w)
	ticket := w.ticket()
	ticket.Generation++
	w.Attachment.Spec.AttachmentTickets[ticket.ID] = *ticket
}

// refused: the last engine was refused by the target of this generation, so long before now.
func refused(generation int64, before time.Duration) func(*World) {
	return func(w *World) {
		w.Target.Status.Conditions = []v1beta2.Condition{{
			Type: v1beta2.BackupTargetAvailable, Status: v1beta2.ConditionFalse, Reason: v1beta2.ReasonRefused, Message: "No route.",
			LastProbeTime: noon.Add(-before).Format(time.RFC3339Nano), ObservedGeneration: generation,
		}}
	}
}

// done is the world after the verdict was done.
func done(w World, v Verdict) World {
	b := w.Backup.DeepCopy()
	a := w.Attachment
	switch v.Step {
	case StepRepair:
		b.Finalizers = append(b.Finalizers, v1beta2.Finalizer)
		if w.Snapshot != nil {
			b.Labels = map[string]string{v1beta2.LabelBackupVolume: v1beta2.LabelValue(w.Snapshot.Spec.Volume)}
		}
	case StepSay:
		b.Status.Conditions = []v1beta2.Condition{v.Condition}
	case StepTakeTicket:
		a = a.DeepCopy()
		a.Spec.AttachmentTickets = map[string]v1beta2.AttachmentTicket{v.Ticket.ID: *v.Ticket}
	case StepDropTicket:
		a = a.DeepCopy()
		a.Spec.AttachmentTickets = nil
	case StepDropFinalizer:
		b.Finalizers = nil
	}
	w.Backup, w.Attachment = b, a
	return w
}
