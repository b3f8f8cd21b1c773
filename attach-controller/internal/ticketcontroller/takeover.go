package ticketcontroller

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/attach-controller/internal/ticket"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
)

// TakeOver returns the tickets with which a volume must begin, by id: those that keep it on its node, if no ticket ever did. For every
// other volume it is nil and nothing is read. The creator of a VolumeAttachment puts them into the same write; a is nil then.
func TakeOver(ctx context.Context, reader client.Reader, v *v1beta2.Volume,
	a *v1beta2.VolumeAttachment) (map[string]v1beta2.AttachmentTicket, error) {
	if !ticket.NeedsTakeOver(v, a) {
		return nil, nil
	}
	w := ticket.World{Volume: v, Attachment: a}
	g := gatherer{reader: reader, namespace: v.Namespace, of: labelled}
	for _, read := range []func(context.Context, *ticket.World) error{
		g.readEngine, g.readReplicas, g.readShare, g.readKubernetes, g.readNodes,
	} {
		if err := read(ctx, &w); err != nil {
			return nil, fmt.Errorf("taking volume %s over: %w", v.Name, err)
		}
	}
	return ticket.TakeOver(w), nil
}

// readKubernetes reads the Kubernetes attachments of the volume. It lists all of them: this is done once in the life of a volume that is
// older than its tickets.
func (g gatherer) readKubernetes(ctx context.Context, w *ticket.World) error {
	var list storagev1.VolumeAttachmentList
	if err := lookup.ListShared(ctx, g.reader, "", &list); err != nil {
		return err
	}
	for i := range list.Items {
		a := &list.Items[i]
		handle, err := g.handle(ctx, a)
		if err != nil {
			return err
		}
		if handle == w.Volume.Name {
			w.KubernetesAttachments = append(w.KubernetesAttachments,
				ticket.KubernetesAttachment{Name: a.Name, Node: a.Spec.NodeName, UID: a.UID})
		}
	}
	return nil
}

// handle is the volume of a Kubernetes attachment; "" if it is none of ours.
func (g gatherer) handle(ctx context.Context, a *storagev1.VolumeAttachment) (string, error) {
	if a.Spec.Attacher != v1beta2.CSIDriver {
		return "", nil
	}
	if inline := a.Spec.Source.InlineVolumeSpec; inline != nil && inline.CSI != nil {
		return inline.CSI.VolumeHandle, nil
	}
	if a.Spec.Source.PersistentVolumeName == nil {
		return "", nil
	}
	volume, err := lookup.Get(ctx, g.reader, "", *a.Spec.Source.PersistentVolumeName, &corev1.PersistentVolume{})
	if volume == nil || err != nil {
		return "", err
	}
	return kube.VolumeHandleOf(volume), nil
}
