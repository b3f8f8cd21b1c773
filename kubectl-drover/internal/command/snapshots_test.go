package command

import (
	"context"
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit"
	testcluster "drover.dev/drover/shared/testkit/cluster"
	"drover.dev/drover/shared/volumesnapshot"
)

func (s *scenario) snapshotExists(name string) bool {
	s.t.Helper()
	err := testkit.Admin(s.t).Get(s.t.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, &v1beta2.Snapshot{})
	require.NoError(s.t, client.IgnoreNotFound(err))
	return !apierrors.IsNotFound(err)
}

// content creates the VolumeSnapshotContent of a VolumeSnapshot of Kubernetes.
func (s *scenario) content(volume, uid string) {
	s.t.Helper()
	found, err := testcluster.LocateSnapshotter(s.t.Context(), os.Stderr)
	require.NoError(s.t, err)
	require.NoError(s.t, testkit.Cluster().InstallCRDs(s.t.Context(), found.CRDs))
	scheme := testkit.Scheme(s.t)
	require.NoError(s.t, volumesnapshot.AddToScheme(scheme))
	admin, err := client.New(testkit.Cluster().AdminConfig(), client.Options{Scheme: scheme})
	require.NoError(s.t, err)
	c := &volumesnapshot.Content{ObjectMeta: metav1.ObjectMeta{Name: "snapcontent-" + uid}, Spec: volumesnapshot.ContentSpec{
		Driver: volumesnapshot.Driver, DeletionPolicy: "Delete", Source: volumesnapshot.ContentSource{VolumeHandle: volume},
		VolumeSnapshotRef: volumesnapshot.Reference{Namespace: "shop", Name: "daily", UID: types.UID(uid)}}}
	require.NoError(s.t, admin.Create(s.t.Context(), c))
	s.t.Cleanup(func() { require.NoError(s.t, admin.Delete(context.Background(), c)) })
}

func TestSnapshotsAreShownAsATreeAndPrunedUnlessNeeded(t *testing.T) {
	s := newScenario(t, "snapshots/objects.yaml").allowed("snapshots prune")
	s.content("snapped", "0a1b2c3d-0000-4000-8000-00000000000c")
	got := s.run("snapshots", "sn")
	require.Equal(t, "There is no Volume sn: this is snapped, the only one that begins so.\n", got.err)
	s.golden("snapshots/tree.txt", got.out)
	require.Equal(t, "volume copy-1 has no snapshots\n", s.run("snapshots", "copy-1").out)

	got = s.run("snapshots", "prune", "snapped", "--keep", "0", "--dry-run")
	require.Empty(t, got.err)
	s.golden("snapshots/preview.txt", got.out)
	s.golden("snapshots/preview.json", s.run("snapshots", "prune", "snapped", "--keep", "1", "--older-than", "216h", "--dry-run", "-o",
		"json").out)
	require.True(t, s.snapshotExists("s-1"))

	require.Contains(t, s.run("snapshots", "prune", "snapped", "--yes").err, "error: name which may go: --keep N leaves the newest")
	got = s.answering("n", "snapshots", "prune", "snapped", "--keep", "1")
	require.Equal(t, ExitFailed, got.code)
	require.Contains(t, got.err, "Delete 2 snapshots of volume snapped? [y/N] n\nerror: not confirmed: nothing was changed\n")
	require.True(t, s.snapshotExists("s-1"))

	got = s.answering("y", "snapshots", "prune", "snapped", "--older-than", "240h")
	require.Equal(t, "snapshot.longhorn.io/s-1 deleted\n", got.out)
	require.Equal(t, "snapshot.longhorn.io/s-4\n", s.run("snapshots", "prune", "snapped", "--keep", "0", "--yes", "-o", "name").out)
	for name, stays := range map[string]bool{"s-1": false, "s-2": true, "s-3": true, "s-4": false, "s-5": true} {
		require.Equal(t, stays, s.snapshotExists(name), name)
	}
	require.Contains(t, s.run("snapshots", "prune", "snapped", "--keep", "0", "--yes").out, "volume snapped: 0 to delete")
}
