package diskcontroller

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/disk-controller/internal/directory"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/cut"
)

func TestADirectoryBecomesAReadyDiskAndIsMeasured(t *testing.T) {
	e := newEnv(t)
	e.directory("/var/lib/longhorn")
	n := e.node("node-1", "/var/lib/longhorn")
	e.start(cut.Point{})
	d := e.await("longhorn", v1beta2.ReasonDiskReady)
	require.Equal(t, e.config("/var/lib/longhorn").DiskUUID, d.DiskUUID)
	require.Equal(t, []string{"longhorn", "/var/lib/longhorn", v1beta2.DiskTypeFilesystem}, []string{d.DiskName, d.DiskPath, d.DiskType})
	require.Positive(t, d.StorageMaximum)

	replica := &v1beta2.Replica{ObjectMeta: metav1.ObjectMeta{Namespace: e.namespace, Name: "vol-1-r-0a1b2c3d"},
		Spec: v1beta2.ReplicaSpec{NodeID: "node-1", DiskID: d.DiskUUID, VolumeSize: 1 << 30}}
	require.NoError(t, e.admin.Create(t.Context(), replica))
	testkit.WaitFor(t, e.admin, n, "the replica's size", func(n *v1beta2.Node) bool {
		return n.Status.DiskStatus["longhorn"].ScheduledReplica[replica.Name] == 1<<30
	})
	require.NoError(t, e.admin.Delete(t.Context(), replica))
	testkit.WaitFor(t, e.admin, n, "nothing promised", func(n *v1beta2.Node) bool {
		return len(n.Status.DiskStatus["longhorn"].ScheduledReplica) == 0
	})
}

func TestADiskOfALonghornThatRanBeforeKeepsItsUUID(t *testing.T) {
	e := newEnv(t)
	made := e.directory("/data")
	const uuid = "aaaa1111-0000-4000-8000-000000000001"
	file := `{"diskName":"default-disk-fd01","diskUUID":"` + uuid + `","diskDriver":"","state":"ready"}`
	require.NoError(t, os.WriteFile(filepath.Join(made, directory.ConfigName), []byte(file), 0o644))
	e.node("node-1", "/data")
	e.start(cut.Point{})
	require.Equal(t, uuid, e.await("data", v1beta2.ReasonDiskReady).DiskUUID)
	content, err := os.ReadFile(filepath.Join(made, directory.ConfigName))
	require.NoError(t, err)
	require.Equal(t, file, string(content))
}

func TestADiskThatIsOnRecordAtAnotherNodeIsNotTaken(t *testing.T) {
	e := newEnv(t)
	made := e.directory("/data")
	const uuid = "aaaa1111-0000-4000-8000-000000000001"
	require.NoError(t, os.WriteFile(filepath.Join(made, directory.ConfigName), []byte(`{"diskUUID":"`+uuid+`"}`), 0o644))
	e.record(e.node("node-2", "/data"), map[string]any{"data": map[string]any{"diskType": "filesystem", "diskUUID": uuid}})
	e.node("node-1", "/data")
	e.start(cut.Point{})
	d := e.await("data", v1beta2.ReasonDiskFilesystemChanged)
	require.Empty(t, d.DiskUUID)
	require.Contains(t, conditions.Get(d.Conditions, v1beta2.DiskReady).Message, "disk data of node node-2")
}

func TestADirectoryOfAnotherClustersLonghornIsNotMadeADisk(t *testing.T) {
	e := newEnv(t)
	made := e.directory("/data/replicas/vol-1-0a1b2c3d")
	e.node("node-1", "/data")
	e.start(cut.Point{})
	d := e.await("data", v1beta2.ReasonNoDiskInfo)
	require.Contains(t, conditions.Get(d.Conditions, v1beta2.DiskReady).Message, "another cluster's")
	require.DirExists(t, made)
	require.NoFileExists(t, filepath.Join(e.root, "data", directory.ConfigName))
}

func TestASecondDiskOfOneFileSystemIsReportedAndTheFirstStays(t *testing.T) {
	e := newEnv(t)
	e.directory("/a")
	e.directory("/b")
	n := e.node("node-1", "/b")
	e.start(cut.Point{})
	e.await("b", v1beta2.ReasonDiskReady)
	require.NoError(t, status.MergeSpec(t.Context(), e.admin, n, map[string]any{"disks": disksAt("/a", "/b")}))
	e.await("a", v1beta2.ReasonDiskFilesystemChanged)
	e.await("b", v1beta2.ReasonDiskReady)
	require.NoFileExists(t, filepath.Join(e.root, "a", directory.ConfigName))
}

// A disk that is exchanged, and one whose directory vanishes, are seen at the next measurement.
func TestADiskThatChangesIsNoticedByTheMeasurement(t *testing.T) {
	e := newEnv(t)
	made := e.directory("/data")
	e.period = 50 * time.Millisecond
	e.node("node-1", "/data")
	e.start(cut.Point{})
	uuid := e.await("data", v1beta2.ReasonDiskReady).DiskUUID
	require.NoError(t, os.Rename(made, made+".away"))
	e.await("data", v1beta2.ReasonNoDiskInfo)
	e.directory("/data")
	require.Equal(t, uuid, e.await("data", v1beta2.ReasonDiskFilesystemChanged).DiskUUID, "the recorded UUID stays")
	require.NoFileExists(t, filepath.Join(made, directory.ConfigName), "an empty directory does not take the place of the disk")
	require.NoError(t, os.Remove(made))
	require.NoError(t, os.Rename(made+".away", made))
	require.Equal(t, uuid, e.await("data", v1beta2.ReasonDiskReady).DiskUUID)
}

func TestAQuietDiskIsMeasuredWithoutAWrite(t *testing.T) {
	e := newEnv(t)
	e.directory("/data")
	e.period = 10 * time.Millisecond
	n := e.node("node-1", "/data")
	p := e.start(cut.Point{})
	e.await("data", v1beta2.ReasonDiskReady)
	before := testkit.Reconciles(t, "disk")
	require.Eventually(t, func() bool { return testkit.Reconciles(t, "disk") >= before+20 }, time.Minute, testkit.Poll)
	require.Len(t, p.Client.Writes(), 1, "%v of node %s", p.Client.Writes(), n.Name)
}

// Whichever write the process dies at, the directory becomes a disk once, and its UUID is recorded.
func TestACrashLeadsToTheSameDisk(t *testing.T) {
	for _, at := range cut.Points(1) {
		t.Run(at.String(), func(t *testing.T) {
			e := newEnv(t)
			e.directory("/data")
			e.node("node-1", "/data")
			<-e.start(at).Ended()
			uuid := e.config("/data").DiskUUID
			e.start(cut.Point{})
			require.Equal(t, uuid, e.await("data", v1beta2.ReasonDiskReady).DiskUUID)
			require.Equal(t, uuid, e.config("/data").DiskUUID)
		})
	}
}

// A stolen token of one node's pod reaches that node's objects only.
func TestATokenReachesItsOwnNodeOnly(t *testing.T) {
	e := newEnv(t)
	own, other := e.node("node-1", "/data"), e.node("node-2", "/data")
	block := map[string]any{"fast": map[string]any{"diskType": "block", "diskUUID": "bbbb2222-0000-4000-8000-000000000002"}}
	block["untyped"] = map[string]any{"diskUUID": "dddd4444-0000-4000-8000-000000000004"}
	e.record(own, block)
	device := func(path string) map[string]any { return map[string]any{"path": path, "diskType": "block"} }
	require.NoError(t, status.MergeSpec(t.Context(), e.admin, own, map[string]any{"disks": map[string]any{
		"untyped": device("/dev/sdb"), "bare": device("/dev/sdc")}}))
	thief, unbound := testkit.Client(t, e.identity), testkit.Client(t, testkit.BinaryIdentity(t, e.namespace, Owner))
	write := func(c client.Client, n *v1beta2.Node, fields map[string]any) error {
		return status.MergeStatus(t.Context(), c, n, fields)
	}
	disks := func(disks map[string]any) map[string]any { return map[string]any{"diskStatus": disks} }
	data := disks(map[string]any{"data": map[string]any{"diskType": "filesystem", "storageMaximum": 7}})

	require.Eventually(t, func() bool { return write(thief, other, data) != nil }, time.Minute, testkit.Poll, "the policy is in force")
	require.ErrorContains(t, write(thief, other, data), `this token of disk-controller is for node "node-1"`)
	require.ErrorContains(t, write(unbound, own, data), `this token of disk-controller is for node ""`)
	require.NoError(t, write(thief, own, data))
	for what, fields := range map[string]map[string]any{
		"another field":       {"zone": "zone-1"},
		"an abandoned one":    {"abandonedInstances": map[string]any{"vol-1-e-0": map[string]any{"uuid": "x"}}},
		"a v2 disk":           disks(map[string]any{"fast": map[string]any{"diskUUID": "cccc3333-0000-4000-8000-000000000003"}}),
		"the end of a v2 one": disks(map[string]any{"fast": nil}),
		"a v2 one made v1":    disks(map[string]any{"fast": map[string]any{"diskType": "filesystem"}}),
		"a new v2 one":        disks(map[string]any{"new": map[string]any{"diskType": "block"}}),
		"one without a type":  disks(map[string]any{"new": map[string]any{"diskUUID": "cccc3333-0000-4000-8000-000000000003"}}),
		"the UUID of a device": disks(map[string]any{"bare": map[string]any{"diskUUID": "cccc3333-0000-4000-8000-000000000003",
			"acknowledgedAt": "2026-08-01T12:00:00Z"}}),
		"a device made v1":               disks(map[string]any{"bare": map[string]any{"diskType": "filesystem"}}),
		"a recorded device made v1":      disks(map[string]any{"untyped": map[string]any{"diskType": "filesystem"}}),
		"the end of a recorded device":   disks(map[string]any{"untyped": nil}),
		"another UUID of a known device": disks(map[string]any{"untyped": map[string]any{"diskUUID": "cccc3333-0000-4000-8000-000000000003"}}),
	} {
		require.ErrorContains(t, write(thief, own, fields), "disk-controller changes only", what)
	}
}

// Longhorn writes an empty list and an empty map as null.
func TestATokenReportsOnANodeWithoutAnyStatus(t *testing.T) {
	e := newEnv(t)
	n := e.node("node-1", "/data")
	null := client.RawPatch(types.JSONPatchType, []byte(`[{"op":"add","path":"/status","value":{"conditions":null,"diskStatus":null}}]`))
	require.NoError(t, e.admin.Status().Patch(t.Context(), n.DeepCopy(), null))
	thief, other := testkit.Client(t, e.identity), e.node("node-2", "/data")
	data := map[string]any{"diskStatus": map[string]any{"data": map[string]any{"diskType": "filesystem", "storageMaximum": 7}}}
	require.Eventually(t, func() bool { return status.MergeStatus(t.Context(), thief, other, data) != nil }, time.Minute, testkit.Poll,
		"the policy is in force")
	require.NoError(t, status.MergeStatus(t.Context(), thief, n, data))
}

func TestATokenReachesTheLeaseOfItsOwnNodeOnly(t *testing.T) {
	e := newEnv(t)
	thief := testkit.Client(t, e.identity)
	require.Eventually(t, func() bool { return thief.Create(t.Context(), lease(e.namespace, "drover-im-monitor")) != nil }, time.Minute,
		testkit.Poll, "the policy is in force")
	require.NoError(t, thief.Create(t.Context(), lease(e.namespace, LeasePrefix+"node-1")))
	for _, name := range []string{LeasePrefix + "node-2", "drover-attach-controller"} {
		made := lease(e.namespace, name)
		require.ErrorContains(t, thief.Create(t.Context(), made), `for node "node-1"`, name)
		require.NoError(t, e.admin.Create(t.Context(), made))
		made.Labels = map[string]string{"stolen": "true"}
		require.ErrorContains(t, thief.Update(t.Context(), made), `for node "node-1"`, name)
	}
}
