package csicontroller

import (
	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/attach-controller/internal/csi"
	"drover.dev/drover/shared/api/v1beta2"
)

// The indexes; other parts of the binary have their own on the same kinds.
const (
	// byPersistentVolume, byNode and byVolume find VolumeAttachments: of a PersistentVolume, whoever attaches it; of a node by its name in
	// Kubernetes or in the driver; of a Longhorn volume that was attached.
	byPersistentVolume = "csicontroller.persistent-volume"
	byNode             = "csicontroller.node"
	byVolume           = "csicontroller.volume"
	// byHandle finds PersistentVolumes of a Longhorn volume.
	byHandle = "csicontroller.handle"
	// byTicket finds Longhorn VolumeAttachments that carry a ticket of Kubernetes.
	byTicket = "csicontroller.ticket"
)

var indexes = []struct {
	of   client.Object
	name string
	keys client.IndexerFunc
}{
	{&storagev1.VolumeAttachment{}, byPersistentVolume, func(obj client.Object) []string {
		return keys(csi.FromAttachment(obj.(*storagev1.VolumeAttachment)).PersistentVolume)
	}},
	{&storagev1.VolumeAttachment{}, byNode, ofOurs(func(a csi.Attachment) []string {
		if a.NodeID == a.HostName {
			return keys(a.HostName)
		}
		return keys(a.HostName, a.NodeID)
	})},
	{&storagev1.VolumeAttachment{}, byVolume, ofOurs(func(a csi.Attachment) []string { return keys(a.Metadata[csi.MetadataVolume]) })},
	{&corev1.PersistentVolume{}, byHandle, func(obj client.Object) []string {
		pv := csi.FromPersistentVolume(obj.(*corev1.PersistentVolume))
		if pv.Driver != csi.Driver {
			return nil
		}
		return keys(pv.Handle)
	}},
	{&v1beta2.VolumeAttachment{}, byTicket, func(obj client.Object) []string {
		return ticketsOfKubernetes(obj.(*v1beta2.VolumeAttachment))
	}},
}

func ofOurs(of func(csi.Attachment) []string) client.IndexerFunc {
	return func(obj client.Object) []string {
		va := obj.(*storagev1.VolumeAttachment)
		if va.Spec.Attacher != csi.Driver {
			return nil
		}
		return of(csi.FromAttachment(va))
	}
}

func ticketsOfKubernetes(va *v1beta2.VolumeAttachment) []string {
	var ids []string
	for id, ticket := range va.Spec.AttachmentTickets {
		if ticket.Type == v1beta2.AttacherCSI {
			ids = append(ids, id)
		}
	}
	return ids
}

func keys(names ...string) []string {
	var out []string
	for _, name := range names {
		if name != "" {
			out = append(out, name)
		}
	}
	return out
}
