package snapshotcontroller

import (
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/snapshot-controller/internal/compactcache"
)

// Cached returns what is kept of each kind. There are as many Snapshots as everything else together, times ten: of them, and
// of the engines' lists, only what is decided by is kept, and words that occur everywhere are kept once.
func Cached() map[client.Object]cache.ByObject {
	return map[client.Object]cache.ByObject{
		&v1beta2.Snapshot{}:         {Transform: kube.Keep(thinSnapshot)},
		&v1beta2.Engine{}:           {Transform: kube.Keep(thinEngine)},
		&v1beta2.Volume{}:           {Transform: kube.Keep(thinVolume)},
		&v1beta2.Replica{}:          {Transform: kube.Keep(thinReplica)},
		&v1beta2.Node{}:             {Transform: kube.Keep(thinNode)},
		&v1beta2.VolumeAttachment{}: {Transform: kube.Keep(thinAttachment)},
		&v1beta2.Backup{}:           {Transform: kube.Keep(thinBackup)},
	}
}

// thinMeta keeps what identifies an object and its version.
func thinMeta(m metav1.ObjectMeta) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: m.Name, Namespace: word(m.Namespace), UID: m.UID, ResourceVersion: m.ResourceVersion, Generation: m.Generation,
		CreationTimestamp: m.CreationTimestamp, DeletionTimestamp: m.DeletionTimestamp,
	}
}

func thinSnapshot(s *v1beta2.Snapshot) *v1beta2.Snapshot {
	if compactcache.Is(s) {
		return s // it may be done twice
	}
	thin := &v1beta2.Snapshot{ObjectMeta: thinMeta(s.ObjectMeta), Spec: s.Spec, Status: s.Status}
	thin.Spec.Volume, thin.Spec.Labels = word(s.Spec.Volume), nil
	if job, ok := s.Spec.Labels[v1beta2.LabelRecurringJob]; ok {
		thin.Spec.Labels = jobLabel(job)
	}
	thin.Finalizers, thin.OwnerReferences = finalizers(s.Finalizers), owners(s.OwnerReferences)
	if label, ok := s.Labels[v1beta2.LabelVolume]; ok {
		thin.Labels = volumeLabel(label)
	}
	if taker := v1beta2.SnapshotTaker(s); taker != "" {
		thin.Labels = maps.Clone(thin.Labels) // the map is shared
		metav1.SetMetaDataLabel(&thin.ObjectMeta, v1beta2.LabelManagedBy, word(taker))
	}
	thin.Status.Checksum, thin.Status.ChecksumCalculatedAt, thin.Status.OwnerID = "", "", ""
	thin.Status.CreationTime, thin.Status.RequestedTime = moment(s.Status.CreationTime), moment(s.Status.RequestedTime)
	thin.Status.Conditions = thinConditions(slices.DeleteFunc(slices.Clone(s.Status.Conditions), func(c v1beta2.Condition) bool {
		return c.Type == v1beta2.SnapshotProvisioned && c.Status == v1beta2.ConditionTrue // only that it was not taken decides anything
	}))
	compactcache.Snapshot(thin)
	return thin
}

// thinBackup keeps what decisions need and what Kubernetes is shown of the Backup, and nothing that the target reports itself.
func thinBackup(b *v1beta2.Backup) *v1beta2.Backup {
	thin := &v1beta2.Backup{ObjectMeta: thinMeta(b.ObjectMeta), Spec: b.Spec}
	thin.Labels, thin.Finalizers, thin.OwnerReferences = b.Labels, words(b.Finalizers), b.OwnerReferences
	thin.Status.LastSyncedAt, thin.Status.EngineRun = b.Status.LastSyncedAt, b.Status.EngineRun
	if b.Status.State != v1beta2.BackupCompleted {
		thin.Status.Progress, thin.Status.ProgressedAt = b.Status.Progress, b.Status.ProgressedAt
		thin.Status.RequestedTime, thin.Status.ReplicaAddress = b.Status.RequestedTime, b.Status.ReplicaAddress
	}
	thin.Status.State, thin.Status.VolumeName, thin.Status.URL = word(b.Status.State), word(b.Status.VolumeName), b.Status.URL
	thin.Status.BackupTargetName, thin.Status.BackupCreatedAt = word(b.Status.BackupTargetName), b.Status.BackupCreatedAt
	thin.Status.SnapshotCreatedAt, thin.Status.VolumeSize, thin.Status.Error = b.Status.SnapshotCreatedAt, b.Status.VolumeSize,
		b.Status.Error
	thin.Status.Conditions = thinConditions(b.Status.Conditions)
	if job, ok := b.Status.Labels[v1beta2.LabelRecurringJob]; ok {
		thin.Status.Labels = jobLabel(job)
	}
	return thin
}

func thinConditions(list []v1beta2.Condition) []v1beta2.Condition {
	out := make([]v1beta2.Condition, 0, len(list))
	for _, c := range list {
		c.LastProbeTime, c.LastTransitionTime = moment(c.LastProbeTime), moment(c.LastTransitionTime)
		c.Type, c.Reason, c.Message, c.Status = word(c.Type), word(c.Reason), word(c.Message),
			v1beta2.ConditionStatus(word(string(c.Status)))
		out = append(out, c)
	}
	return conditionsOf(out)
}

func thinEngine(e *v1beta2.Engine) *v1beta2.Engine {
	if compactcache.Is(e) {
		return e
	}
	thin := &v1beta2.Engine{ObjectMeta: thinMeta(e.ObjectMeta)}
	thin.OwnerReferences = e.OwnerReferences
	thin.Spec.VolumeName, thin.Spec.NodeID, thin.Spec.Active = word(e.Spec.VolumeName), word(e.Spec.NodeID), e.Spec.Active
	thin.Status.CurrentState, thin.Status.Snapshots = word(e.Status.CurrentState), e.Status.Snapshots
	thin.Spec.RequestedBackupRestore, thin.Status.LastRestoredBackup = e.Spec.RequestedBackupRestore, e.Status.LastRestoredBackup
	for name, mode := range e.Status.ReplicaModeMap {
		if mode == v1beta2.ReplicaModeWO {
			thin.Status.ReplicaModeMap = map[string]string{name: mode}
		}
	}
	compactcache.Engine(thin)
	return thin
}

func thinVolume(v *v1beta2.Volume) *v1beta2.Volume {
	thin := &v1beta2.Volume{ObjectMeta: thinMeta(v.ObjectMeta), Spec: v.Spec}
	thin.Labels = v.Labels
	thin.Status.State, thin.Status.Robustness = word(v.Status.State), word(v.Status.Robustness)
	thin.Status.CurrentNodeID, thin.Status.CurrentMigrationNodeID = word(v.Status.CurrentNodeID), word(v.Status.CurrentMigrationNodeID)
	thin.Status.IsStandby, thin.Status.RestoreRequired = v.Status.IsStandby, v.Status.RestoreRequired
	c := v.Status.CloneStatus
	thin.Status.CloneStatus = v1beta2.VolumeCloneStatus{State: word(c.State), SourceVolume: c.SourceVolume, Snapshot: c.Snapshot}
	thin.Status.LastBackup, thin.Status.LastBackupAt = v.Status.LastBackup, v.Status.LastBackupAt
	return thin
}

func thinReplica(r *v1beta2.Replica) *v1beta2.Replica {
	thin := &v1beta2.Replica{ObjectMeta: thinMeta(r.ObjectMeta)}
	thin.Spec.VolumeName, thin.Spec.NodeID = word(r.Spec.VolumeName), word(r.Spec.NodeID)
	thin.Spec.FailedAt, thin.Spec.HealthyAt = r.Spec.FailedAt, r.Spec.HealthyAt
	if v1beta2.IsSecondProcess(r) { // it must not count as a copy
		thin.Spec.DataDirectoryName = r.Spec.DataDirectoryName
	}
	thin.Spec.Active, thin.Spec.DataEngine = r.Spec.Active, word(r.Spec.DataEngine)
	thin.Status.CurrentState = word(r.Status.CurrentState)
	return thin
}

func thinNode(n *v1beta2.Node) *v1beta2.Node {
	thin := &v1beta2.Node{ObjectMeta: thinMeta(n.ObjectMeta)}
	thin.Spec.UpgradeRequested = n.Spec.UpgradeRequested
	for _, c := range n.Status.Conditions {
		if c.Type == v1beta2.NodeReady || c.Type == v1beta2.NodeSchedulable {
			thin.Status.Conditions = append(thin.Status.Conditions, v1beta2.Condition{Type: c.Type, Status: c.Status, Reason: c.Reason})
		}
	}
	return thin
}

func thinAttachment(a *v1beta2.VolumeAttachment) *v1beta2.VolumeAttachment {
	thin := &v1beta2.VolumeAttachment{ObjectMeta: thinMeta(a.ObjectMeta)}
	for id, t := range a.Spec.AttachmentTickets {
		if t.Type != v1beta2.AttacherSnapshot && t.Type != v1beta2.AttacherBackup {
			continue
		}
		if thin.Spec.AttachmentTickets == nil {
			thin.Spec.AttachmentTickets = map[string]v1beta2.AttachmentTicket{}
		}
		thin.Spec.AttachmentTickets[id] = t
	}
	for id, s := range a.Status.AttachmentTicketStatuses {
		if !strings.HasPrefix(id, v1beta2.AttacherSnapshot+"-") && !strings.HasPrefix(id, v1beta2.AttacherBackup+"-") {
			continue
		}
		if thin.Status.AttachmentTicketStatuses == nil {
			thin.Status.AttachmentTicketStatuses = map[string]v1beta2.AttachmentTicketStatus{}
		}
		s.Conditions = thinConditions(s.Conditions)
		thin.Status.AttachmentTicketStatuses[id] = s
	}
	return thin
}
