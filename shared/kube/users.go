package kube

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/volumeusers"
)

// VolumesOfPod returns the names of the volumes of a pod's claims, from a cache that has the index ByClaim.
func VolumesOfPod(ctx context.Context, cache client.Reader, pod *corev1.Pod) []string {
	everywhere, handle := Mapper{Reader: cache}, func(o client.Object) string { return VolumeHandleOf(o.(*corev1.PersistentVolume)) }
	var out []string
	for _, claim := range ClaimsOf(pod) {
		out = append(out, everywhere.NamesBy(ctx, handle, &corev1.PersistentVolumeList{}, client.MatchingFields{FieldClaim: claim})...)
	}
	return out
}

// UsersOf reads the users of a volume from a cache that has the indexes ByHandle and ByClaim.
func UsersOf(ctx context.Context, cache client.Reader, volume string) (volumeusers.Users, error) {
	var users volumeusers.Users
	var list corev1.PersistentVolumeList
	if err := lookup.ListShared(ctx, cache, "", &list, client.MatchingFields{FieldHandle: volume}); err != nil {
		return users, err
	}
	for i := range list.Items {
		users.PersistentVolumes = append(users.PersistentVolumes, &list.Items[i])
	}
	pv := volumeusers.Bound(users.PersistentVolumes)
	if pv == nil || ClaimOf(pv) == "" {
		return users, nil
	}
	var pods corev1.PodList
	claim := client.MatchingFields{FieldClaim: ClaimOf(pv)}
	if err := lookup.ListShared(ctx, cache, pv.Spec.ClaimRef.Namespace, &pods, claim); err != nil {
		return users, err
	}
	for i := range pods.Items {
		users.Pods = append(users.Pods, &pods.Items[i])
	}
	return users, nil
}
