package enginepoll

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/backup"
	"drover.dev/drover/im-monitor/internal/startfacts"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
)

// origin is what a backup reports of its volume, beside the data.
type origin struct {
	backup.Origin
	// storageClass is that of the volume's PersistentVolume; backingImage and checksum are those of a v1 volume that starts from one.
	storageClass, backingImage, checksum string
}

// originOf reads what a backup reports of a volume.
func (p *poll) originOf(ctx context.Context, v *v1beta2.Volume) (out origin, err error) {
	out.AccessMode = v.Spec.AccessMode
	if used := v.Status.KubernetesStatus; !equality.Semantic.DeepEqual(used, v1beta2.KubernetesStatus{}) {
		raw, err := json.Marshal(used)
		if err != nil {
			return out, fmt.Errorf("encoding what uses volume %s: %w", v.Name, err)
		}
		out.KubernetesStatus = string(raw)
	}
	room, err := p.startFacts().RoomOf(ctx, startfacts.Of(v), p.engine.Spec.DataEngine, imageOf(p.engine))
	switch {
	case err != nil:
		return out, fmt.Errorf("reading whether backups of volume %s contain a LUKS header: %w", v.Name, err)
	case room == nil:
		return out, fmt.Errorf("whether backups of volume %s contain a LUKS header is unknown: EngineImage %s does not exist, or reports no "+
			"CLI API version", v.Name, v1beta2.EngineImageName(imageOf(p.engine)))
	}
	out.LUKSRoom = *room > 0
	if out.storageClass, err = p.storageClassOf(ctx, v); err != nil {
		return out, err
	}
	return out, p.fillBackingImage(ctx, v, &out)
}

// storageClassOf is the storage class of the volume's PersistentVolume; empty where there is none.
func (p *poll) storageClassOf(ctx context.Context, v *v1beta2.Volume) (string, error) {
	var list corev1.PersistentVolumeList
	name := cmp.Or(v.Status.KubernetesStatus.PVName, v.Name)
	if err := p.rt.Uncached.List(ctx, &list, client.MatchingFields{"metadata.name": name}); err != nil {
		return "", fmt.Errorf("reading PersistentVolume %s: %w", name, err)
	}
	for i := range list.Items {
		if pv := &list.Items[i]; pv.Name == name && kube.VolumeHandleOf(pv) == v.Name {
			return pv.Spec.StorageClassName, nil
		}
	}
	return "", nil
}

// fillBackingImage reads the backing image that a v1 volume starts from. Longhorn reports it of those only.
func (p *poll) fillBackingImage(ctx context.Context, v *v1beta2.Volume, into *origin) error {
	if v.Spec.BackingImage == "" || p.engine.Spec.DataEngine == v1beta2.DataEngineV2 {
		return nil
	}
	image, err := lookup.Shared(ctx, p.rt.Client, p.rt.Namespace, v.Spec.BackingImage, &v1beta2.BackingImage{})
	if err != nil {
		return fmt.Errorf("reading backing image %s: %w", v.Spec.BackingImage, err)
	}
	if into.backingImage = v.Spec.BackingImage; image != nil {
		into.checksum = cmp.Or(image.Status.Checksum, image.Spec.Checksum)
	}
	return nil
}
