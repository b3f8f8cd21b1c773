package csi

import "drover.dev/drover/shared/api/v1beta2"

// Names of the external-attacher; other programs read them.
const (
	// Driver is the CSI driver whose VolumeAttachments are served, and spec.attacher of those.
	Driver = v1beta2.CSIDriver
	// Finalizer is on a VolumeAttachment and on its PersistentVolume while the volume may be attached.
	Finalizer = "external-attacher/driver-longhorn-io"
	// NodeIDAnnotation records on a VolumeAttachment the driver's name of the node, for when the CSINode is gone.
	NodeIDAnnotation = "csi.alpha.kubernetes.io/node-id"
)

// Keys of status.attachmentMetadata: which Longhorn volume was attached to which Longhorn node.
const (
	MetadataVolume = "longhorn.io/volume"
	MetadataNode   = "longhorn.io/node"
)

// shareRunning is Volume.status.shareState while the share of an RWX volume can be mounted.
const shareRunning = "running"

// World is everything that was read about one VolumeAttachment. A missing object is nil or empty.
type World struct {
	Attachment Attachment
	// PersistentVolume is the one in the VolumeAttachment's source.
	PersistentVolume *PersistentVolume
	// DriverNodeID is the driver's name of the node in its CSINode; empty: the driver is not registered.
	DriverNodeID string
	// Host is the Kubernetes node.
	Host *Host
	// Node is the Longhorn node of the ticket.
	Node *Node
	// Volume is the Longhorn volume of the PersistentVolume's handle, or, where that is gone, of MetadataVolume.
	Volume *Volume
	// Tickets are those of the Longhorn VolumeAttachment of that volume.
	Tickets *Tickets
	// Strays are other volumes whose Longhorn VolumeAttachments carry this one's ticket, in order.
	Strays []string
}

// Attachment is a storage.k8s.io VolumeAttachment.
type Attachment struct {
	Name, UID string
	// HostName is spec.nodeName, PersistentVolume spec.source.persistentVolumeName; empty: an inline volume.
	HostName, PersistentVolume string
	Deleting, HasFinalizer     bool
	// NodeID is the annotation of that name.
	NodeID                   string
	Attached                 bool
	Metadata                 map[string]string
	AttachError, DetachError string
}

// PersistentVolume is a core PersistentVolume.
type PersistentVolume struct {
	Name, Driver, Handle   string
	Deleting, HasFinalizer bool
	// ManyNodes reports whether pods on several nodes may use it.
	ManyNodes bool
}

// Host is a core Node.
type Host struct {
	// OutOfService reports whether the Node has the taint node.kubernetes.io/out-of-service, which declares it dead.
	OutOfService bool
}

// Node is a Longhorn Node that exists.
type Node struct{ Down bool }

// Volume is the relevant part of a Longhorn Volume.
type Volume struct {
	Name, State, Robustness               string
	NodeID, MigrationNodeID               string
	CurrentNodeID, CurrentMigrationNodeID string
	Deleting, Standby, Restoring          bool
	// Fault is why a volume that is being restored is faulted; empty where it is not.
	Fault string
	// Cloning is the state of filling the volume from another one; empty: it is no clone, or a complete one.
	Cloning string
	// AccessMode and Frontend have their defaults filled in.
	AccessMode, Frontend, ShareState string
	Migratable                       bool
}

// Tickets is the relevant part of a Longhorn VolumeAttachment.
type Tickets struct {
	// Volume is the volume's name, and the object's.
	Volume   string
	Deleting bool
	// Untouched reports whether there never was a ticket or an answer.
	Untouched bool
	// Wanted and Answers are spec.attachmentTickets and status.attachmentTicketStatuses.
	Wanted  map[string]v1beta2.AttachmentTicket
	Answers map[string]v1beta2.AttachmentTicketStatus
	// Blocked is the message of condition Ready where its reason is Blocked or Faulted.
	Blocked string
}

// NodeID returns the Longhorn node of the attachment: the driver's name of the node when the volume was attached there, else its present
// name; empty: not known yet.
func (w World) NodeID() string {
	a := w.Attachment
	switch {
	case a.NodeID != "" && (a.Attached || a.Deleting):
		return a.NodeID
	case w.DriverNodeID != "":
		return w.DriverNodeID
	case a.NodeID == "" && a.Deleting:
		return a.HostName
	}
	return a.NodeID
}

// ticket returns this attachment's ticket.
func (w World) ticket() (v1beta2.AttachmentTicket, bool) {
	if w.Tickets == nil {
		return v1beta2.AttachmentTicket{}, false
	}
	found, ok := w.Tickets.Wanted[w.Attachment.Name]
	return found, ok
}

// shared reports whether the volume reaches its nodes by a share, wherever it is attached itself.
func (v *Volume) shared() bool {
	return v.AccessMode == v1beta2.AccessModeReadWriteMany && !v.Migratable
}
