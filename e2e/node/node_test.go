package node

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/e2e/harness"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/managerimage"
)

const patience = time.Minute

var nodes = []string{"node-1", "node-2", "node-3"}

// here is the one World of this test binary.
var here *world.World

func TestMain(m *testing.M) {
	harness.Main(m, world.Options{Nodes: nodes, Attach: true, Disks: true, Policies: true},
		func(_ context.Context, w *world.World) error { here = w; return nil })
}

// defaultDisk returns the key and the status of a node's one v1 disk.
func defaultDisk(t *testing.T, ctx context.Context, node string) (string, v1beta2.DiskStatus) {
	t.Helper()
	n := here.NodeObject(node)
	require.NoError(t, here.Admin.Get(ctx, client.ObjectKeyFromObject(n), n))
	for key, disk := range n.Status.DiskStatus {
		if disk.DiskType == v1beta2.DiskTypeFilesystem {
			return key, disk
		}
	}
	t.Fatalf("node %s has no v1 disk: %v", node, n.Status.DiskStatus)
	return "", v1beta2.DiskStatus{}
}

// A new node without any disk gets one in the default directory, whose file has the identity that the Node reports.
func TestANewNodeHasADefaultDisk(t *testing.T) {
	ctx := harness.Open(t, here, 2*time.Minute)
	for _, node := range nodes {
		key, disk := defaultDisk(t, ctx, node)
		content, err := os.ReadFile(filepath.Join(here.Host(node), managerimage.ControlPath, "longhorn-disk.cfg"))
		require.NoError(t, err)
		var config struct{ DiskName, DiskUUID string }
		require.NoError(t, json.Unmarshal(content, &config))
		require.Equal(t, key, config.DiskName)
		require.Equal(t, disk.DiskUUID, config.DiskUUID)
		require.Positive(t, disk.StorageMaximum)
	}
}

// Each replica of a v1 volume has its directory on the disk that its object names, and the directories go with the volume.
func TestTheReplicasOfAVolumeLieOnTheDisks(t *testing.T) {
	ctx := harness.Open(t, here, 2*time.Minute)
	require.NoError(t, here.Order(ctx, "files", v1beta2.DataEngineV1, len(nodes), nil))
	require.NoError(t, here.Attach(ctx, "files", "node-1", patience))
	replicas, err := here.ReplicasOf(ctx, "files")
	require.NoError(t, err)
	require.Len(t, replicas, len(nodes))
	for _, r := range replicas {
		_, disk := defaultDisk(t, ctx, r.Spec.NodeID)
		require.Equal(t, disk.DiskUUID, r.Spec.DiskID)
		require.FileExists(t, filepath.Join(directory(r), "volume.meta"))
	}
	require.NoError(t, here.LetGo(ctx, "files", patience))
	kept := filepath.Join(filepath.Dir(directory(replicas[0])), "another-0a1b2c3d")
	require.NoError(t, os.MkdirAll(kept, 0o700))
	require.NoError(t, here.DeleteVolume(ctx, "files"))
	require.NoError(t, here.WaitVolumeGone(ctx, "files", patience))
	for _, r := range replicas {
		require.NoDirExists(t, directory(r))
		remains, err := filepath.Glob(filepath.Join(filepath.Dir(directory(r)), ".removing-*"))
		require.NoError(t, err)
		require.Empty(t, remains)
	}
	require.DirExists(t, kept, "no object names it")
}

// directory returns where the data of a replica is.
func directory(r v1beta2.Replica) string {
	return filepath.Join(here.Host(r.Spec.NodeID), r.Spec.DiskPath, "replicas", r.Spec.DataDirectoryName)
}
