package csicontroller

import (
	storagev1 "k8s.io/api/storage/v1"

	"drover.dev/drover/attach-controller/internal/csi"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
)

// The indexes; other parts of the binary have their own on the same kinds.
const (
	// byPersistentVolume, byNode and byVolume find VolumeAttachments: of a PersistentVolume, whoever attaches it; of a node by its name in
	// Kubernetes or in the driver; of a Longhorn volume that was attached.
	byPersistentVolume = "csicontroller.persistent-volume"
	byNode             = "csicontroller.node"
	byVolume           = "csicontroller.volume"
	// byTicket finds Longhorn VolumeAttachments that carry a ticket of Kubernetes.
	byTicket = "csicontroller.ticket"
)

var indexes = []kube.Index{
	kube.IndexBy(&storagev1.VolumeAttachment{}, byPersistentVolume, func(va *storagev1.VolumeAttachment) string {
		return csi.FromAttachment(va).PersistentVolume
	}),
	ofOurs(byNode, func(a csi.Attachment) []string { return []string{a.HostName, a.NodeID} }),
	ofOurs(byVolume, func(a csi.Attachment) []string { return []string{a.Metadata[csi.MetadataVolume]} }),
	kube.ByHandle(),
	kube.IndexByEach(&v1beta2.VolumeAttachment{}, byTicket, ticketsOfKubernetes),
}

func ofOurs(field string, keys func(csi.Attachment) []string) kube.Index {
	return kube.IndexByEach(&storagev1.VolumeAttachment{}, field, func(va *storagev1.VolumeAttachment) []string {
		if va.Spec.Attacher != csi.Driver {
			return nil
		}
		return keys(csi.FromAttachment(va))
	})
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
