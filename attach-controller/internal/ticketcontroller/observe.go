package ticketcontroller

import (
	"context"
	"fmt"

	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/attach-controller/internal/setting"
	"drover.dev/drover/attach-controller/internal/ticket"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/settingcontroller"
)

// observer fills the core's World of one volume.
type observer struct {
	gatherer
	uncached client.Reader
	settings *settingcontroller.Source[setting.Values]
	clock    clock.PassiveClock
}

// observe reads the world of a volume; nil: the volume or its VolumeAttachment does not exist. With live the VolumeAttachment is read
// uncached, and so is every owner that the cache does not have.
func (o observer) observe(ctx context.Context, name string, live bool) (*ticket.World, error) {
	volume, err := lookup.Get(ctx, o.reader, o.namespace, name, &v1beta2.Volume{})
	if volume == nil || err != nil {
		return nil, err
	}
	tickets := o.reader
	if live {
		tickets = o.uncached
	}
	attachment, err := lookup.Get(ctx, tickets, o.namespace, name, &v1beta2.VolumeAttachment{})
	if attachment == nil || err != nil {
		return nil, err
	}
	w := &ticket.World{Now: o.clock.Now(), Volume: volume, Attachment: attachment}
	for _, read := range []func(context.Context, *ticket.World) error{
		o.readSettings, o.readEngine, o.readReplicas, o.readShare, o.readExports, o.readClones, o.readNodes,
		func(ctx context.Context, w *ticket.World) error { return o.readOwners(ctx, w, live) },
	} {
		if err := read(ctx, w); err != nil {
			return nil, fmt.Errorf("reading the world of volume %s: %w", name, err)
		}
	}
	return w, nil
}

func (o observer) readSettings(ctx context.Context, w *ticket.World) error {
	values, err := o.settings.Current(ctx, w.Volume.Spec.DataEngine)
	w.Settings = ticket.Settings{
		AutoSalvage: values.AutoSalvage, DetachWhenCordoned: values.DetachWhenCordoned, OfflineRebuilding: values.OfflineRebuilding,
	}
	return err
}

func (o observer) readExports(ctx context.Context, w *ticket.World) error {
	var list v1beta2.BackingImageDataSourceList
	if err := o.list(ctx, &list, byExported, w.Volume.Name); err != nil {
		return err
	}
	w.Exports = list.Items
	return nil
}

func (o observer) readClones(ctx context.Context, w *ticket.World) error {
	var list v1beta2.VolumeList
	if err := o.list(ctx, &list, bySource, w.Volume.Name); err != nil {
		return err
	}
	w.Clones = list.Items
	return nil
}

func (o observer) list(ctx context.Context, list client.ObjectList, index, key string) error {
	return lookup.List(ctx, o.reader, o.namespace, list, client.MatchingFields{index: key})
}

// readOwners reads whether the owners of the tickets exist.
func (o observer) readOwners(ctx context.Context, w *ticket.World, live bool) error {
	w.Owners = map[ticket.Owner]ticket.Presence{}
	for id, t := range w.Attachment.Spec.AttachmentTickets {
		owner, uid, ok := ticket.OwnerOf(w.Volume.Name, id, t)
		if !ok {
			continue
		}
		found, err := presence(ctx, o.reader, o.namespace, owner)
		if err == nil && live && (!found.Exists || uid != "" && uid != found.UID) {
			found, err = presence(ctx, o.uncached, o.namespace, owner)
		}
		if err != nil {
			return err
		}
		w.Owners[owner] = found
	}
	return nil
}

// presence reads one owner, by the reader's cheapest way.
func presence(ctx context.Context, reader client.Reader, namespace string, owner ticket.Owner) (ticket.Presence, error) {
	obj, namespaced := ownerObject(owner.Kind)
	if !namespaced {
		namespace = ""
	}
	err := reader.Get(ctx, client.ObjectKey{Namespace: namespace, Name: owner.Name}, obj)
	if client.IgnoreNotFound(err) != nil {
		return ticket.Presence{}, fmt.Errorf("reading %s %s: %w", owner.Kind, owner.Name, err)
	}
	return ticket.Presence{Exists: err == nil, UID: uidOf(obj, err)}, nil
}

func uidOf(obj client.Object, err error) types.UID {
	if err != nil {
		return ""
	}
	return obj.GetUID()
}

// ownerObject is an empty object of a kind of owners, and whether that kind has namespaces. Of snapshots and backups,
// of which there are many, only the metadata is read.
func ownerObject(kind string) (obj client.Object, namespaced bool) {
	switch kind {
	case ticket.KindVolume:
		return &v1beta2.Volume{}, true
	case ticket.KindShareManager:
		return &v1beta2.ShareManager{}, true
	case ticket.KindDataSource:
		return &v1beta2.BackingImageDataSource{}, true
	case ticket.KindKubernetesAttachment:
		return &storagev1.VolumeAttachment{}, false
	}
	return metadataOf(kind), true
}

func metadataOf(kind string) *metav1.PartialObjectMetadata {
	obj := &metav1.PartialObjectMetadata{}
	obj.SetGroupVersionKind(v1beta2.GroupVersion.WithKind(kind))
	return obj
}
