package csicontroller

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/attach-controller/internal/csi"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/runkit"
)

// observer fills the core's World. It only reads.
type observer struct{ rt *runkit.Runtime }

// seen is a World and its source objects, to which the writes are bound.
type seen struct {
	world            csi.World
	attachment       *storagev1.VolumeAttachment
	persistentVolume *corev1.PersistentVolume
	volume           *v1beta2.Volume
	tickets          *v1beta2.VolumeAttachment
}

// observe reads the world of one VolumeAttachment; nil: it is gone, or another driver's. With live, everything that the end of an
// attachment relies on is read uncached: the attachment, the Kubernetes node, the volume and its tickets.
func (o observer) observe(ctx context.Context, name string, live bool) (*seen, error) {
	decisive := client.Reader(o.rt.Client)
	if live {
		decisive = o.rt.Uncached
	}
	va, err := lookup.Get(ctx, decisive, "", name, &storagev1.VolumeAttachment{})
	if va == nil || err != nil || va.Spec.Attacher != csi.Driver {
		return nil, err
	}
	s := &seen{attachment: va}
	s.world.Attachment = csi.FromAttachment(va)
	for _, read := range []func(context.Context, client.Reader, *seen) error{o.readPlace, o.readVolume, o.readStrays} {
		if err := read(ctx, decisive, s); err != nil {
			return nil, fmt.Errorf("reading the world of VolumeAttachment %s: %w", name, err)
		}
	}
	return s, nil
}

// readPlace reads the node for the volume.
func (o observer) readPlace(ctx context.Context, decisive client.Reader, s *seen) error {
	host, err := lookup.Get(ctx, decisive, "", s.world.Attachment.HostName, &corev1.Node{})
	if err != nil {
		return err
	}
	if host != nil {
		facts := csi.FromHost(host)
		s.world.Host = &facts
	}
	registered, err := lookup.Get(ctx, o.rt.Client, "", s.world.Attachment.HostName, &storagev1.CSINode{})
	if err != nil {
		return err
	}
	if registered != nil {
		s.world.DriverNodeID = csi.FromCSINode(registered)
	}
	node, err := lookup.Get(ctx, o.rt.Client, o.rt.Namespace, s.world.NodeID(), &v1beta2.Node{})
	if err != nil {
		return err
	}
	if node != nil {
		facts := csi.FromNode(node)
		s.world.Node = &facts
	}
	return nil
}

// readVolume reads the volume to attach, and its tickets.
func (o observer) readVolume(ctx context.Context, decisive client.Reader, s *seen) (err error) {
	if s.persistentVolume, err = lookup.Get(ctx, o.rt.Client, "", s.world.Attachment.PersistentVolume,
		&corev1.PersistentVolume{}); err != nil {
		return err
	}
	name := s.world.Attachment.Metadata[csi.MetadataVolume]
	if s.persistentVolume != nil {
		facts := csi.FromPersistentVolume(s.persistentVolume)
		s.world.PersistentVolume = &facts
		if facts.Driver == csi.Driver {
			name = facts.Handle
		}
	}
	if s.tickets, err = lookup.Get(ctx, decisive, o.rt.Namespace, name, &v1beta2.VolumeAttachment{}); err != nil {
		return err
	}
	if s.tickets != nil {
		facts := csi.FromTickets(s.tickets)
		s.world.Tickets = &facts
	}
	if s.volume, err = lookup.Get(ctx, decisive, o.rt.Namespace, name, &v1beta2.Volume{}); err != nil {
		return err
	}
	if s.volume != nil {
		facts := csi.FromVolume(s.volume)
		s.world.Volume = &facts
	}
	return nil
}

// readStrays searches for the ticket at other volumes.
func (o observer) readStrays(ctx context.Context, _ client.Reader, s *seen) error {
	var list v1beta2.VolumeAttachmentList
	err := lookup.ListShared(ctx, o.rt.Client, o.rt.Namespace, &list, client.MatchingFields{byTicket: s.world.Attachment.Name})
	if err != nil {
		return err
	}
	for i := range list.Items {
		if name := list.Items[i].Name; s.tickets == nil || name != s.tickets.Name {
			s.world.Strays = append(s.world.Strays, name)
		}
	}
	slices.Sort(s.world.Strays)
	return nil
}
