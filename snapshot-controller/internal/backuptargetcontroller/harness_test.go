package backuptargetcontroller

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	testclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/simulator/enginecli"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/settingcontroller"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/cut"
	"drover.dev/drover/shared/testkit/shell"
	"drover.dev/drover/snapshot-controller/internal/backupcontroller"
	"drover.dev/drover/snapshot-controller/internal/backupstores"
	"drover.dev/drover/snapshot-controller/internal/setting"
	"drover.dev/drover/snapshot-controller/internal/snapshotcontroller"
)

// This test binary plays the engine's binary, too.
func TestMain(m *testing.M) {
	if enginecli.IsCalled() {
		os.Exit(enginecli.Main(os.Args[1:], os.Stdout))
	}
	testkit.Main(m)
}

const (
	patience = 60 * time.Second
	poll     = testkit.Poll
	image    = "example.com/engine:v1"
	target   = v1beta2.BackupTargetDefault
)

// world is a namespace of a real API server with the controllers of targets and of backups in it, as snapshot-controller's ServiceAccount.
// Its clock stands still until the test moves it.
type world struct {
	t                  *testing.T
	namespace          string
	admin              client.WithWatch
	directory, program string
	clock              *testclock.FakeClock

	run shell.Slot
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, namespace: testkit.Namespace(t), admin: testkit.Admin(t), directory: t.TempDir(), program: t.TempDir(),
		clock: testclock.NewFakeClock(time.Now())}
	require.NoError(t, enginecli.Install(w.program, image))
	w.create(&v1beta2.Setting{ObjectMeta: w.meta(setting.EngineImage), Value: image})
	t.Cleanup(w.end)
	return w
}

// listedWorld returns a world whose target has these backups, each as volume/name, and was read once.
func listedWorld(t *testing.T, backups ...string) *world {
	t.Helper()
	w := newWorld(t)
	for _, b := range backups {
		volume, name, _ := strings.Cut(b, "/")
		w.put(volume, name)
	}
	w.watched()
	w.start(cut.Point{}, nil)
	w.shows(v1beta2.ReasonListed)
	return w
}

func (w *world) meta(name string) metav1.ObjectMeta {
	return metav1.ObjectMeta{Namespace: w.namespace, Name: name}
}

func (w *world) url() string { return "file://" + w.directory }

// watched creates the target, which is read each five minutes.
func (w *world) watched() *v1beta2.BackupTarget {
	w.t.Helper()
	t := &v1beta2.BackupTarget{ObjectMeta: w.meta(target), Spec: v1beta2.BackupTargetSpec{BackupTargetURL: w.url(), PollInterval: "5m"}}
	w.create(t)
	return t
}

// start runs the controllers until they are stopped, or cut.
func (w *world) start(at cut.Point, onCut func()) *shell.Process {
	w.t.Helper()
	p := shell.Start(w.t, shell.Options{
		Identity: testkit.BinaryIdentity(w.t, w.namespace, owner), Namespace: w.namespace, Owner: owner, Cache: snapshotcontroller.Cached(),
		At: at, OnCut: onCut, Clock: w.clock,
	}, func(ctx context.Context, rt *runkit.Runtime) error {
		settings := settingcontroller.NewSource(rt.Client, rt.Namespace, setting.Catalogue)
		stores := &backupstores.Stores{Uncached: rt.Uncached, Namespace: rt.Namespace, Settings: settings,
			Options: backupstores.Options{Binaries: w.program, Commands: 4}}
		if err := backupcontroller.Setup(ctx, rt, settings, stores); err != nil {
			return err
		}
		return Setup(ctx, rt, stores)
	})
	w.run.Hold(p)
	return p
}

func (w *world) end() { w.run.End(w.t) }

func (w *world) create(obj client.Object) {
	w.t.Helper()
	require.NoError(w.t, w.admin.Create(w.t.Context(), obj))
}

func (w *world) delete(obj client.Object) {
	w.t.Helper()
	require.NoError(w.t, client.IgnoreNotFound(w.admin.Delete(w.t.Context(), obj)))
}

// put stores a backup in the target.
func (w *world) put(volume, name string) {
	w.t.Helper()
	require.NoError(w.t, enginecli.Put(w.url(), enginecli.Stored{Name: name, Volume: volume, Snapshot: "snap-of-" + name, Size: 16 << 20,
		Created: w.clock.Now(), Labels: map[string]string{"RecurringJob": "daily"}, Text: "content of " + name}))
}

// fault makes the target misbehave; empty: it does not any more.
func (w *world) fault(text string) {
	w.t.Helper()
	path := filepath.Join(w.directory, enginecli.FaultFile)
	if text == "" {
		require.NoError(w.t, os.Remove(path))
		return
	}
	require.NoError(w.t, os.WriteFile(path, []byte(text), 0o600))
}

// request has the target read again, and waits until it was.
func (w *world) request() {
	w.t.Helper()
	w.clock.Step(2 * time.Second)
	at := w.clock.Now().UTC().Format(time.RFC3339)
	w.set(map[string]any{"syncRequestedAt": at})
	w.reads(func(t *v1beta2.BackupTarget) bool { return t.Status.LastSyncedAt >= at }, "read by request")
}

func (w *world) set(spec map[string]any) {
	w.t.Helper()
	require.NoError(w.t, status.MergeSpec(w.t.Context(), w.admin, &v1beta2.BackupTarget{ObjectMeta: w.meta(target)}, spec))
}

func (w *world) target() *v1beta2.BackupTarget {
	t := &v1beta2.BackupTarget{}
	require.NoError(w.t, w.admin.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: target}, t))
	return t
}

func (w *world) reads(is func(*v1beta2.BackupTarget) bool, what string) {
	w.t.Helper()
	require.Eventually(w.t, func() bool { return is(w.target()) }, patience, poll, what)
}

// shows waits until the target has this reason.
func (w *world) shows(reason string) *v1beta2.Condition {
	w.t.Helper()
	w.reads(func(t *v1beta2.BackupTarget) bool {
		return conditions.Reason(t.Status.Conditions, v1beta2.BackupTargetListed) == reason
	}, reason)
	return conditions.Get(w.target().Status.Conditions, v1beta2.BackupTargetListed)
}

// backups are the names of the Backups, volumes those of the volumes of the BackupVolumes.
func (w *world) backups() []string {
	var list v1beta2.BackupList
	require.NoError(w.t, w.admin.List(w.t.Context(), &list, client.InNamespace(w.namespace)))
	var out []string
	for i := range list.Items {
		out = append(out, list.Items[i].Name)
	}
	return out
}

func (w *world) volumes() []string {
	var list v1beta2.BackupVolumeList
	require.NoError(w.t, w.admin.List(w.t.Context(), &list, client.InNamespace(w.namespace)))
	var out []string
	for i := range list.Items {
		out = append(out, list.Items[i].Spec.VolumeName)
	}
	return out
}

func (w *world) has(volumes, backups []string) {
	w.t.Helper()
	require.EventuallyWithT(w.t, func(c *assert.CollectT) {
		require.ElementsMatch(c, backups, w.backups())
		require.ElementsMatch(c, volumes, w.volumes())
	}, patience, poll)
}

func (w *world) inTarget(volume string) []string { return enginecli.Names(w.url(), volume) }

func (w *world) backup(name string) *v1beta2.Backup {
	w.t.Helper()
	b := &v1beta2.Backup{}
	require.NoError(w.t, w.admin.Get(w.t.Context(), client.ObjectKey{Namespace: w.namespace, Name: name}, b))
	return b
}

func (w *world) volume(volume string) *v1beta2.BackupVolume {
	w.t.Helper()
	var list v1beta2.BackupVolumeList
	require.NoError(w.t, w.admin.List(w.t.Context(), &list, client.InNamespace(w.namespace)))
	for i := range list.Items {
		if strings.HasPrefix(list.Items[i].Name, volume+"-") {
			return &list.Items[i]
		}
	}
	require.Fail(w.t, "no BackupVolume of "+volume)
	return nil
}
