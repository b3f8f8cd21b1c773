package podrecoverycontroller

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/attach-controller/internal/podrecovery"
	"drover.dev/drover/attach-controller/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/settingcontroller"
)

// observer reads the facts about one pod. It only reads.
type observer struct {
	// cache finds related objects by indexes; reader then reads each object: the cache, or the API server.
	cache, reader client.Reader
	// live reports whether the reader is the API server, which has other indexes.
	live      bool
	namespace string
	settings  *settingcontroller.Source[setting.Values]
	clock     clock.PassiveClock
	memory    *memory
}

// seen is the facts and their source objects, to which the deletions are bound.
type seen struct {
	facts       podrecovery.Facts
	pod         *corev1.Pod
	volumes     map[string]*v1beta2.Volume
	attachments map[string]*storagev1.VolumeAttachment
	nodes       map[string]podrecovery.Node
}

// observe reads the facts about a pod; nil: it is gone.
func (o observer) observe(ctx context.Context, key client.ObjectKey) (*seen, error) {
	pod, err := lookup.Get(ctx, o.reader, key.Namespace, key.Name, &corev1.Pod{})
	if pod == nil || err != nil {
		return nil, err
	}
	s := &seen{pod: pod, volumes: map[string]*v1beta2.Volume{}, attachments: map[string]*storagev1.VolumeAttachment{},
		nodes: map[string]podrecovery.Node{}}
	s.facts.Now, s.facts.Pod = o.clock.Now(), podrecovery.FromPod(pod)
	if s.facts.Pod.Node == "" {
		return s, nil
	}
	for _, claim := range kube.ClaimsOf(pod) {
		if err := o.readVolumes(ctx, s, claim); err != nil {
			return nil, fmt.Errorf("reading what pod %s uses: %w", key, err)
		}
	}
	if slices.ContainsFunc(s.facts.Volumes, func(v podrecovery.Volume) bool { return !v.RemountRequestedAt.IsZero() }) {
		if s.facts.Backend, err = o.backendServes(ctx); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(s.facts.Volumes, func(a, b podrecovery.Volume) int { return cmp.Compare(a.Name, b.Name) })
	if s.facts.Pod.Leaving() && len(s.facts.Volumes) > 0 {
		s.facts.Node, err = o.node(ctx, s, s.facts.Pod.Node)
	}
	return s, err
}

// readVolumes reads the Longhorn volume that is bound to a claim.
func (o observer) readVolumes(ctx context.Context, s *seen, claim string) error {
	var list corev1.PersistentVolumeList
	if err := lookup.ListShared(ctx, o.cache, "", &list, client.MatchingFields{kube.FieldClaim: claim}); err != nil {
		return err
	}
	for i := range list.Items {
		pv, err := lookup.Get(ctx, o.reader, "", list.Items[i].Name, &corev1.PersistentVolume{})
		if err != nil {
			return err
		}
		if pv == nil || kube.ClaimOf(pv) != claim || s.volumes[kube.VolumeHandleOf(pv)] != nil {
			continue
		}
		if err := o.readVolume(ctx, s, pv, claim); err != nil {
			return err
		}
	}
	return nil
}

func (o observer) readVolume(ctx context.Context, s *seen, pv *corev1.PersistentVolume, claim string) error {
	volume, err := lookup.Get(ctx, o.reader, o.namespace, kube.VolumeHandleOf(pv), &v1beta2.Volume{})
	if volume == nil || err != nil {
		return err
	}
	var share *corev1.Pod
	if podrecovery.FromVolume(volume, nil).Shared {
		if share, err = lookup.Get(ctx, o.reader, o.namespace, sharePrefix+volume.Name, &corev1.Pod{}); err != nil {
			return err
		}
	}
	facts := podrecovery.FromVolume(volume, share)
	facts.FirstDeletionAt = o.memory.recall(volume.Name, facts.RemountRequestedAt)
	facts.ManyNodes = slices.ContainsFunc(pv.Spec.AccessModes, func(m corev1.PersistentVolumeAccessMode) bool {
		return m == corev1.ReadWriteMany || m == corev1.ReadOnlyMany
	})
	if facts.Settings, err = o.settings.Current(ctx, volume.Spec.DataEngine); err != nil {
		return err
	}
	if s.facts.Pod.Leaving() || s.facts.Pod.Waits {
		if facts.Attachments, err = o.readAttachments(ctx, s, pv.Name, claim); err != nil {
			return err
		}
	}
	s.volumes[volume.Name] = volume
	s.facts.Volumes = append(s.facts.Volumes, facts)
	return nil
}

func (o observer) readAttachments(ctx context.Context, s *seen, pv, claim string) ([]podrecovery.Attachment, error) {
	var list storagev1.VolumeAttachmentList
	if err := lookup.ListShared(ctx, o.cache, "", &list, client.MatchingFields{byPersistentVolume: pv}); err != nil {
		return nil, err
	}
	var out []podrecovery.Attachment
	for i := range list.Items {
		va, err := lookup.Get(ctx, o.reader, "", list.Items[i].Name, &storagev1.VolumeAttachment{})
		if err != nil {
			return nil, err
		}
		if va == nil || sourceOf(va) != pv {
			continue
		}
		a := podrecovery.Attachment{Name: va.Name, Deleting: va.DeletionTimestamp != nil}
		if a.Node, err = o.node(ctx, s, va.Spec.NodeName); err != nil {
			return nil, err
		}
		if a.Users, err = o.users(ctx, s, va.Spec.NodeName, claim); err != nil {
			return nil, err
		}
		s.attachments[va.Name] = va
		out = append(out, a)
	}
	slices.SortFunc(out, func(a, b podrecovery.Attachment) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// node reads what is known of a node.
func (o observer) node(ctx context.Context, s *seen, name string) (podrecovery.Node, error) {
	if known, ok := s.nodes[name]; ok {
		return known, nil
	}
	longhorn, err := lookup.Get(ctx, o.reader, o.namespace, name, &v1beta2.Node{})
	if err != nil {
		return podrecovery.Node{}, err
	}
	n := podrecovery.Node{Name: name, Down: v1beta2.IsNodeDown(longhorn)}
	if n.Down {
		host, err := lookup.Get(ctx, o.reader, "", name, &corev1.Node{})
		if err != nil {
			return podrecovery.Node{}, err
		}
		n.Kubernetes = podrecovery.FromHost(host)
	}
	s.nodes[name] = n
	return n, nil
}

// users are the other pods on a node with a claim.
func (o observer) users(ctx context.Context, s *seen, node, claim string) ([]podrecovery.User, error) {
	which := client.MatchingFields{kube.FieldClaim: claim}
	if o.live {
		which = client.MatchingFields{"spec.nodeName": node}
	}
	var list corev1.PodList
	if err := lookup.ListShared(ctx, o.reader, s.pod.Namespace, &list, which); err != nil {
		return nil, err
	}
	var out []podrecovery.User
	for i := range list.Items {
		pod := &list.Items[i]
		if pod.UID == s.pod.UID || pod.Spec.NodeName != node || !slices.Contains(kube.ClaimsOf(pod), claim) {
			continue
		}
		out = append(out, podrecovery.FromUser(pod))
	}
	return out, nil
}
