package takeover

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	storagev1 "k8s.io/api/storage/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

// used is an installation that uses everything that nobody does without longhorn-manager.
func used() Found {
	f := Found{Namespace: "longhorn-system",
		DaemonSets: []appsv1.DaemonSet{{ObjectMeta: named(plugin)}, {ObjectMeta: named("engine-image-ei-1")}},
		Classes: []storagev1.StorageClass{{ObjectMeta: named("longhorn"), Provisioner: driver,
			Parameters: map[string]string{"replicaAutoBalance": "best-effort", "numberOfReplicas": "3", "cloneMode": "full-copy"}},
			{ObjectMeta: named("plain"), Provisioner: driver}, {ObjectMeta: named("somebody-elses"), Provisioner: "csi.example.com"}},
		Shares: []v1beta2.ShareManager{{ObjectMeta: named("shared"), Status: v1beta2.ShareManagerStatus{State: "running"}}},
		Nodes: []v1beta2.Node{
			{ObjectMeta: named("node-1"), Spec: v1beta2.NodeSpec{Disks: map[string]v1beta2.DiskSpec{"b": {}, "a": {DiskType: "filesystem"},
				"c": {DiskType: v1beta2.DiskTypeBlock}}}},
			{ObjectMeta: named("node-2"), Spec: v1beta2.NodeSpec{Disks: map[string]v1beta2.DiskSpec{"c": {DiskType: v1beta2.DiskTypeBlock}}}},
		},
		EngineImages: []v1beta2.EngineImage{{ObjectMeta: named("ei-1"), Spec: v1beta2.EngineImageSpec{Image: "engine:1"}}},
		Settings: []v1beta2.Setting{{ObjectMeta: named("storage-network"), Value: "kube-system/storage"},
			{ObjectMeta: named("default-replica-count"), Value: "2"}, {ObjectMeta: named("data-engine-never-obeyed"), Value: "9"}},
	}
	for i := range 12 {
		v := v1beta2.Volume{ObjectMeta: named(fmt.Sprintf("vol-%02d", i)), Status: v1beta2.VolumeStatus{State: v1beta2.VolumeStateAttached}}
		f.Volumes = append(f.Volumes, v)
	}
	f.Volumes = append(f.Volumes,
		v1beta2.Volume{ObjectMeta: named("shared"), Spec: v1beta2.VolumeSpec{AccessMode: v1beta2.AccessModeReadWriteMany, DataEngine: "v2"}},
		v1beta2.Volume{ObjectMeta: named("moves"), Spec: v1beta2.VolumeSpec{AccessMode: v1beta2.AccessModeReadWriteMany, Migratable: true,
			DataEngine: "v2"}})
	return f
}

// D5: the check names what the installation uses and loses.
func TestWhatAnInstallationLosesIsNamedClassByClassAndVolumeByVolume(t *testing.T) {
	var all []string
	for _, l := range Losses(used()) {
		all = append(all, l.Object+": "+l.What)
		require.NotEmpty(t, l.Do)
	}
	require.Len(t, all, 7)
	for i, parts := range [][]string{
		{"DaemonSet longhorn-csi-plugin: ", "no pod that starts later mounts", "longhorn-backend",
			"12 attached volumes (vol-00, vol-01", "and 2 more"},
		{"StorageClass longhorn: ", "refused by name: replicaAutoBalance=best-effort"},
		{"Volume shared: ", "its ShareManager is running"},
		{"Node node-1: ", "v1 disks", ": a ("},
		{"EngineImage: ", "12 v1 volumes", "engine:1"},
		{"Setting storage-network: ", "kube-system/storage"},
		{"Setting data-engine-never-obeyed: ", "now 9"},
	} {
		for _, part := range parts {
			require.Contains(t, all[i], part)
		}
	}
	require.NotContains(t, strings.Join(all, "\n"), "somebody-elses")
	require.NotContains(t, strings.Join(all, "\n"), "default-replica-count", "a controller obeys it")
	require.NotContains(t, strings.Join(all, "\n"), "StorageClass plain", "its claims are served")
	require.Empty(t, Obstacles(used()), "none of it blocks taking over")
	require.Empty(t, Losses(Found{}))
}
