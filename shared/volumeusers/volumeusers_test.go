package volumeusers_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/volumeusers"
)

func pv(name, claim string, phase corev1.PersistentVolumePhase) *corev1.PersistentVolume {
	out := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: name}}
	out.Status.Phase = phase
	if claim != "" {
		out.Spec.ClaimRef = &corev1.ObjectReference{Namespace: "shop", Name: claim}
	}
	return out
}

func pod(name string, phase corev1.PodPhase) *corev1.Pod {
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, OwnerReferences: []metav1.OwnerReference{
		{Kind: "StatefulSet", Name: "db", Controller: new(true)}}}, Status: corev1.PodStatus{Phase: phase}}
}

func works(name, phase string) v1beta2.WorkloadStatus {
	return v1beta2.WorkloadStatus{PodName: name, PodStatus: phase, WorkloadName: "db", WorkloadType: "StatefulSet"}
}

func TestUsersAreFollowedAndRememberedAfterTheirEnd(t *testing.T) {
	bound, used := pv("pv", "data", corev1.VolumeBound), []*corev1.Pod{pod("db-1", "Running"), pod("db-0", "Pending")}
	mounted := v1beta2.KubernetesStatus{PVName: "pv", PVStatus: "Bound", Namespace: "shop", PVCName: "data",
		WorkloadsStatus: []v1beta2.WorkloadStatus{works("db-0", "Pending"), works("db-1", "Running")}}
	ended := mounted
	ended.LastPodRefAt = "noon"
	released := ended
	released.PVStatus, released.LastPVCRefAt = "Released", "noon"
	gone := released
	gone.PVName, gone.PVStatus = "", ""
	for name, c := range map[string]struct {
		before v1beta2.KubernetesStatus
		pvs    []*corev1.PersistentVolume
		pods   []*corev1.Pod
		want   v1beta2.KubernetesStatus
	}{
		"nobody uses it":                          {},
		"pods use it, in order of their names":    {pvs: []*corev1.PersistentVolume{bound}, pods: used, want: mounted},
		"deciding again changes nothing":          {before: mounted, pvs: []*corev1.PersistentVolume{bound}, pods: used, want: mounted},
		"the last pods stay when they have ended": {before: mounted, pvs: []*corev1.PersistentVolume{bound}, want: ended},
		"a pod that comes back ends the memory":   {before: ended, pvs: []*corev1.PersistentVolume{bound}, pods: used, want: mounted},
		"the last claim stays when it was released": {before: ended,
			pvs: []*corev1.PersistentVolume{pv("pv", "data", "Released")}, want: released},
		"the last claim stays without the volume": {before: released, want: gone},
		"a bound PersistentVolume comes first": {pvs: []*corev1.PersistentVolume{pv("a", "", "Available"), bound}, pods: used,
			want: mounted},
		"another claim does not get the former pods": {before: ended,
			pvs:  []*corev1.PersistentVolume{pv("pv", "new", corev1.VolumeBound)},
			want: v1beta2.KubernetesStatus{PVName: "pv", PVStatus: "Bound", Namespace: "shop", PVCName: "new"}},
		"a claim that was released unseen is known": {pvs: []*corev1.PersistentVolume{pv("pv", "data", "Released")},
			want: v1beta2.KubernetesStatus{PVName: "pv", PVStatus: "Released", Namespace: "shop", PVCName: "data", LastPVCRefAt: "noon"}},
		"a claim that is not bound yet is not the claim": {pvs: []*corev1.PersistentVolume{pv("pv", "data", "Pending")},
			want: v1beta2.KubernetesStatus{PVName: "pv", PVStatus: "Pending"}},
	} {
		t.Run(name, func(t *testing.T) {
			users := volumeusers.Users{PersistentVolumes: c.pvs, Pods: c.pods}
			got := volumeusers.Follow(c.before, users, "noon")
			require.Equal(t, c.want, got)
			require.Equal(t, got, volumeusers.Follow(got, users, "later"), "it is idempotent")
		})
	}
}

func TestTheSizeIsThatOfTheRunningEngine(t *testing.T) {
	engine := func(active bool, state string, sizes ...string) v1beta2.Engine {
		e := v1beta2.Engine{Spec: v1beta2.EngineSpec{Active: active}, Status: v1beta2.EngineStatus{CurrentState: state,
			Snapshots: map[string]v1beta2.SnapshotInfo{}}}
		for i, size := range sizes {
			e.Status.Snapshots[string(rune('a'+i))] = v1beta2.SnapshotInfo{Size: size}
		}
		return e
	}
	require.EqualValues(t, 9, volumeusers.SizeOf(9, nil), "a detached volume keeps its size")
	require.EqualValues(t, 9, volumeusers.SizeOf(9, []v1beta2.Engine{engine(true, "stopped", "1")}))
	require.EqualValues(t, 9, volumeusers.SizeOf(9, []v1beta2.Engine{engine(true, "running")}), "no list was read yet")
	require.EqualValues(t, 30, volumeusers.SizeOf(9, []v1beta2.Engine{engine(false, "running", "1"), engine(true, "running", "10", "20")}))
}
