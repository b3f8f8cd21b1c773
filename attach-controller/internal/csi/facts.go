package csi

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// States of a clone (Volume.status.cloneStatus.state), and a name for the time before the first of them.
const (
	cloneNotBegun = "not begun"
	cloneFailed   = "failed"
)

// dataIsThere are the states in which a clone has all of its data.
var dataIsThere = []string{"copy-completed-awaiting-healthy", "completed"}

// Frontends of a volume that no pod can mount, and the one by default.
const (
	frontendBlockDevice = "blockdev"
	frontendISCSI       = "iscsi"
	frontendNVMf        = "nvmf"
)

// FromAttachment returns the relevant part of a VolumeAttachment.
func FromAttachment(va *storagev1.VolumeAttachment) Attachment {
	a := Attachment{
		Name: va.Name, UID: string(va.UID), HostName: va.Spec.NodeName,
		Deleting: va.DeletionTimestamp != nil, HasFinalizer: slices.Contains(va.Finalizers, Finalizer),
		NodeID: va.Annotations[NodeIDAnnotation], Attached: va.Status.Attached, Metadata: va.Status.AttachmentMetadata,
		AttachError: message(va.Status.AttachError), DetachError: message(va.Status.DetachError),
	}
	if name := va.Spec.Source.PersistentVolumeName; name != nil {
		a.PersistentVolume = *name
	}
	return a
}

func message(e *storagev1.VolumeError) string {
	if e == nil {
		return ""
	}
	return e.Message
}

// FromPersistentVolume returns the relevant part of a PersistentVolume.
func FromPersistentVolume(pv *corev1.PersistentVolume) PersistentVolume {
	p := PersistentVolume{
		Name: pv.Name, Deleting: pv.DeletionTimestamp != nil, HasFinalizer: slices.Contains(pv.Finalizers, Finalizer),
		ManyNodes: slices.Contains(pv.Spec.AccessModes, corev1.ReadWriteMany) || slices.Contains(pv.Spec.AccessModes, corev1.ReadOnlyMany),
	}
	if source := pv.Spec.CSI; source != nil {
		p.Driver, p.Handle = source.Driver, source.VolumeHandle
	}
	return p
}

// FromCSINode returns the driver's name of the node; empty: it is not registered there.
func FromCSINode(node *storagev1.CSINode) string {
	for _, d := range node.Spec.Drivers {
		if d.Name == Driver {
			return d.NodeID
		}
	}
	return ""
}

// FromHost returns the relevant part of a Kubernetes node.
func FromHost(node *corev1.Node) Host {
	return Host{OutOfService: slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool {
		return t.Key == corev1.TaintNodeOutOfService
	})}
}

// FromNode returns the relevant part of a Longhorn node.
func FromNode(node *v1beta2.Node) Node { return Node{Down: v1beta2.IsNodeDown(node)} }

// FromVolume returns the relevant part of a Longhorn volume.
func FromVolume(v *v1beta2.Volume) Volume {
	facts := Volume{
		Name: v.Name, State: v.Status.State, Robustness: v.Status.Robustness,
		NodeID: v.Spec.NodeID, MigrationNodeID: v.Spec.MigrationNodeID,
		CurrentNodeID: v.Status.CurrentNodeID, CurrentMigrationNodeID: v.Status.CurrentMigrationNodeID,
		Deleting: v.DeletionTimestamp != nil, Standby: v.Spec.Standby || v.Status.IsStandby,
		Restoring:  v.Status.RestoreRequired || v.Spec.FromBackup != "" && !v.Status.RestoreInitiated && !v1beta2.EverAttached(v),
		AccessMode: or(v.Spec.AccessMode, v1beta2.AccessModeReadWriteOnce), Frontend: or(v.Spec.Frontend, frontendBlockDevice),
		ShareState: v.Status.ShareState, Migratable: v.Spec.Migratable,
	}
	begun := v.Status.CloneStatus.State != "" || !v1beta2.EverAttached(v)
	if v.Spec.DataSource != "" && begun && !slices.Contains(dataIsThere, v.Status.CloneStatus.State) {
		facts.Cloning = or(v.Status.CloneStatus.State, cloneNotBegun)
	}
	if c := conditions.Get(v.Status.Conditions, v1beta2.VolumeFaulted); facts.Restoring && c != nil && c.Status == v1beta2.ConditionTrue {
		facts.Fault = c.Message
	}
	return facts
}

// FromTickets returns the relevant part of a Longhorn VolumeAttachment.
func FromTickets(va *v1beta2.VolumeAttachment) Tickets {
	t := Tickets{
		Volume: va.Name, Deleting: va.DeletionTimestamp != nil,
		Untouched: len(va.Spec.AttachmentTickets) == 0 && len(va.Status.AttachmentTicketStatuses) == 0 &&
			len(va.Status.Conditions) == 0 && va.Status.ObservedGeneration == 0,
		Wanted: va.Spec.AttachmentTickets, Answers: va.Status.AttachmentTicketStatuses,
	}
	ready := conditions.Get(va.Status.Conditions, v1beta2.VolumeAttachmentReady)
	if ready != nil && (ready.Reason == v1beta2.ReasonBlocked || ready.Reason == v1beta2.ReasonFaulted) {
		t.Blocked = ready.Message
	}
	return t
}

func or(value, absent string) string {
	if value == "" {
		return absent
	}
	return value
}
