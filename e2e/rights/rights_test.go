//go:build !fast

// Package rights compares the requests of the controllers in the API server's audit log with their generated Roles: no right
// is missing, and each right is used.
package rights

import (
	"context"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/e2e/attach"
	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/cluster"
)

const patience, tick = time.Minute, 200 * time.Millisecond

// The settings that are migrated.
const autoDeletion, oldAutoDeletion = "orphan-resource-auto-deletion", "orphan-auto-deletion"

// rare are rights whose use cannot be provoked in a short run.
var rare = map[testkit.Permission]string{
	{Group: "events.k8s.io", Resource: "events", Verb: "patch"}: "an event that repeats for minutes is counted up in place",
	{Group: "longhorn.io", Resource: "settings",
		Verb: "create"}: "needed for an apply of a name that does not exist, which the audit log records as a patch",
}

func TestTheRolesAllowExactlyWhatTheControllersUse(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 45*time.Minute)
	defer cancel()
	requests := slices.Concat(whileInstancesAreOrphaned(ctx, t), whileVolumesAreAttached(ctx, t), whileSnapshotsAreTaken(ctx, t),
		whileANodeIsUpgraded(ctx, t))
	for _, binary := range world.EveryController() {
		for _, request := range requests {
			require.False(t, request.Code == http.StatusForbidden && strings.HasSuffix(request.User, ":"+binary),
				"%s may not %s %s %s", binary, request.Verb, request.Resource, request.Name)
		}
		used := testkit.Used(requests, binary)
		require.NotEmpty(t, used, "%s sent no request", binary)
		namespaced, everywhere := testkit.BinaryRules(t, binary)
		granted := testkit.Granted(append(namespaced, everywhere...))
		assert.Empty(t, unused(granted, used), "%s never used these rights: remove them", binary)
	}
}

// whileInstancesAreOrphaned runs the scenarios of orphans and the rare cases around them.
func whileInstancesAreOrphaned(ctx context.Context, t *testing.T) []cluster.Request {
	t.Helper()
	w := start(ctx, t, world.Options{Nodes: scenarios.Nodes, Audit: true})
	for _, scenario := range scenarios.Scenarios() {
		_, err := scenario.Run(ctx, w, nil)
		require.NoError(t, err)
		require.NoError(t, w.Sweep(ctx))
	}
	frontendGetsAnOwner(ctx, t, w)
	dataOfAVolumeThatIsGone(ctx, t, w)
	oldSettingIsMigrated(ctx, t, w)
	nodeComesAndGoes(ctx, t, w)
	imageChanges(ctx, t, w)
	return audited(t, w)
}

// whileVolumesAreAttached runs the scenarios of volumes that are attached, interrupted, moved and rebuilt.
func whileVolumesAreAttached(ctx context.Context, t *testing.T) []cluster.Request {
	t.Helper()
	w := start(ctx, t, world.Options{Nodes: scenarios.Nodes, Audit: true, Attach: true})
	for _, scenario := range attach.Scenarios() {
		_, err := scenario.Run(ctx, w, nil)
		require.NoError(t, err, scenario.ID)
	}
	settingIsRead(ctx, t, w, "replica-soft-anti-affinity", "false")
	ownersAreGone(ctx, t, w)
	require.NoError(t, w.BackingImage(ctx, "bi-1", map[string]string{"0": "boot sector"})) // its spec names no disk
	require.NoError(t, w.Order(ctx, "backed", v1beta2.DataEngineV1, 1, func(s *v1beta2.VolumeSpec) { s.BackingImage = "bi-1" }))
	require.NoError(t, w.Attach(ctx, "backed", scenarios.Near, patience))
	for _, engine := range []string{v1beta2.DataEngineV1, v1beta2.DataEngineV2} {
		require.NoError(t, w.Order(ctx, "ends-"+engine, engine, 2, nil))
		require.NoError(t, w.Attach(ctx, "ends-"+engine, scenarios.Near, patience))
	}
	require.NoError(t, w.Sweep(ctx))
	anEngineImageComesAndGoes(ctx, t, w)
	aNodeIsDrained(ctx, t, w)
	require.NoError(t, w.Sweep(ctx))
	return audited(t, w)
}

// whileSnapshotsAreTaken takes snapshots of an attached and of a detached volume, removes one, loses one, and deletes the
// volume of the rest.
func whileSnapshotsAreTaken(ctx context.Context, t *testing.T) []cluster.Request {
	t.Helper()
	const volume = "taken"
	w := start(ctx, t, world.Options{Nodes: scenarios.Nodes, Audit: true, Attach: true, Snapshots: true, Kubernetes: true})
	take := func(name string) {
		require.NoError(t, w.Snapshot(ctx, volume, name))
		require.NoError(t, w.WaitSnapshot(ctx, name, v1beta2.SnapshotReady, v1beta2.ReasonReady, patience))
	}
	settingIsRead(ctx, t, w, "snapshot-max-count", "250")
	require.NoError(t, w.Snapshot(ctx, "never-made", "nothing"))
	require.NoError(t, w.WaitSnapshot(ctx, "nothing", v1beta2.SnapshotReady, v1beta2.ReasonVolumeNotFound, patience))
	require.NoError(t, w.DeleteSnapshot(ctx, "nothing"))
	require.NoError(t, w.WaitSnapshotGone(ctx, "nothing", patience))
	require.NoError(t, w.Order(ctx, volume, v1beta2.DataEngineV1, 2, nil))
	job := &v1beta2.RecurringJob{ObjectMeta: metav1.ObjectMeta{Name: "minutely", Namespace: w.Namespace},
		Spec: v1beta2.RecurringJobSpec{Cron: "* * * * *", Task: "snapshot", Groups: []string{"default"}, Retain: 1, Concurrency: 1}}
	require.NoError(t, w.Admin.Create(ctx, job))
	take("detached")
	require.NoError(t, w.Attach(ctx, volume, scenarios.Near, patience))
	take("attached")
	refused(ctx, t, w, volume)
	aVolumeIsCopied(ctx, t, w, volume)
	take("stays")
	require.NoError(t, w.DeleteSnapshot(ctx, "attached"))
	require.NoError(t, w.WaitSnapshotGone(ctx, "attached", patience))
	aSnapshotIsBackedUp(ctx, t, w, "stays")
	kubernetesTakesSnapshots(ctx, t, w, volume)
	require.NoError(t, w.Wait(ctx, "a run of the job", 2*patience, func(ctx context.Context) (string, error) {
		if err := w.Get(ctx, job.Name, job); err != nil || job.Status.LastRun != "" {
			return "", err
		}
		return "it has not run; " + world.FormatConditions(job.Status.Conditions), nil
	}))
	require.NoError(t, w.Admin.Delete(ctx, job))
	require.NoError(t, w.Admin.Delete(ctx, &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: volume, Namespace: w.Namespace}}))
	require.NoError(t, w.WaitSnapshotGone(ctx, "stays", patience))
	aPodIsLeftBehind(ctx, t, w)
	require.NoError(t, w.Sweep(ctx))
	return audited(t, w)
}

// aVolumeIsCopied clones a volume, for which a snapshot is created.
func aVolumeIsCopied(ctx context.Context, t *testing.T, w *world.World, volume string) {
	t.Helper()
	const name = "copied-whole"
	require.NoError(t, w.Order(ctx, name, v1beta2.DataEngineV1, 1, func(s *v1beta2.VolumeSpec) { s.DataSource = "vol://" + volume }))
	require.NoError(t, w.WaitVolume(ctx, name, "to be copied", patience, func(v *v1beta2.Volume) string {
		switch state := v.Status.CloneStatus.State; state {
		case v1beta2.CloneCopyCompleted, v1beta2.CloneCompleted:
			return ""
		default:
			return "it is " + state
		}
	}))
}

// refused lets an engine refuse a snapshot, which im-monitor reports.
func refused(ctx context.Context, t *testing.T, w *world.World, volume string) {
	t.Helper()
	const name = "refused"
	require.NoError(t, w.Inject(ctx, world.Fault{Kind: "error", Method: "VolumeSnapshot", Code: "Unknown"}))
	require.NoError(t, w.Snapshot(ctx, volume, name))
	require.NoError(t, w.WaitSnapshot(ctx, name, v1beta2.SnapshotProvisioned, v1beta2.ReasonFailed, patience))
	require.NoError(t, w.Heal(ctx))
	require.NoError(t, w.DeleteSnapshot(ctx, name))
	require.NoError(t, w.WaitSnapshotGone(ctx, name, patience))
}

// whileANodeIsUpgraded upgrades one node under an attached volume, and withdraws an upgrade in the middle.
func whileANodeIsUpgraded(ctx context.Context, t *testing.T) []cluster.Request {
	t.Helper()
	const volume = "upgraded"
	w := start(ctx, t, world.Options{Nodes: scenarios.Nodes, Audit: true, Attach: true, Snapshots: true, Upgrades: true})
	for _, controller := range w.Controllers() { // a standby watches the lease
		standby, err := w.StartController(ctx, controller, "-standby")
		require.NoError(t, err)
		require.NoError(t, w.WaitReady(ctx, standby, patience))
	}
	require.NoError(t, w.Order(ctx, volume, v1beta2.DataEngineV2, 3, nil))
	require.NoError(t, w.Attach(ctx, volume, scenarios.Near, patience))
	require.NoError(t, w.WaitRobust(ctx, volume, v1beta2.VolumeRobustnessHealthy, patience))
	// A v1 instance manager of the new image would prove that the node has the image, and no pod would test it.
	require.NoError(t, w.Set(ctx, "v1-data-engine", "false"))
	for _, name := range []string{"ends", "withdrawn"} {
		require.NoError(t, w.Upgrade(ctx, name, otherImage(name),
			func(s *v1beta2.DataEngineUpgradeManagerSpec) { s.Nodes = []string{scenarios.Near} }))
		if name == "withdrawn" {
			require.NoError(t, w.WaitNodeUpgradeState(ctx, name, scenarios.Near, 2*patience, v1beta2.UpgradeStateSwitchingOver,
				v1beta2.UpgradeStateDetachingReplicas))
			break
		}
		_, err := w.WaitUpgrade(ctx, name, 4*patience, v1beta2.UpgradeStateCompleted)
		require.NoError(t, err)
	}
	require.NoError(t, w.Set(ctx, "v1-data-engine", "true"))
	require.NoError(t, w.Sweep(ctx))
	return audited(t, w)
}

func start(ctx context.Context, t *testing.T, options world.Options) *world.World {
	t.Helper()
	w, err := world.Start(ctx, options)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.Close()) })
	return w
}

func audited(t *testing.T, w *world.World) []cluster.Request {
	t.Helper()
	requests, err := w.Audited()
	require.NoError(t, err)
	return requests
}

func unused(granted, used []testkit.Permission) []testkit.Permission {
	return slices.DeleteFunc(granted, func(p testkit.Permission) bool {
		// An informer lists where the API server cannot stream the initial state of a watch.
		streamed := p
		streamed.Verb = "watch"
		return rare[p] != "" || slices.Contains(used, p) || p.Verb == "list" && slices.Contains(used, streamed)
	})
}

func frontendGetsAnOwner(ctx context.Context, t *testing.T, w *world.World) {
	t.Helper()
	frontend := &v1beta2.EngineFrontend{
		ObjectMeta: metav1.ObjectMeta{Name: "owned-ef-0", Namespace: w.Namespace},
		Spec:       v1beta2.EngineFrontendSpec{VolumeName: "owned", DataEngine: v1beta2.DataEngineV2, NodeID: scenarios.Near},
	}
	require.NoError(t, w.Admin.Create(ctx, frontend))
	require.Eventually(t, func() bool {
		return w.Admin.Get(ctx, client.ObjectKeyFromObject(frontend), frontend) == nil && frontend.Status.OwnerID == scenarios.Near
	}, patience, tick)
	require.NoError(t, w.Admin.Delete(ctx, frontend))
}

// dataOfAVolumeThatIsGone lets both controllers check whether a PersistentVolume still refers to the volume.
func dataOfAVolumeThatIsGone(ctx context.Context, t *testing.T, w *world.World) {
	t.Helper()
	volume, err := w.CreateVolume(ctx, "gone", v1beta2.DataEngineV2, scenarios.Near, scenarios.Near, scenarios.Far)
	require.NoError(t, err)
	stale, err := w.Stale(ctx, volume, scenarios.Near)
	require.NoError(t, err)
	far, err := w.Stale(ctx, volume, scenarios.Far)
	require.NoError(t, err)
	object := &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{Name: volume.Name, Namespace: w.Namespace}}
	require.NoError(t, w.Disown(ctx, object))
	for _, instance := range append(stale, far...) {
		require.NoError(t, w.DisownInstance(ctx, instance))
	}
	for _, instance := range append(stale, far...) {
		_, err := w.WaitOrphan(ctx, instance, patience)
		require.NoError(t, err)
	}
	require.NoError(t, w.SetAutoDeletion(ctx, "instance", "0"))
	for _, instance := range append(stale, far...) {
		require.NoError(t, w.WaitOrphanGone(ctx, instance.Orphan(), patience))
	}
	require.NoError(t, w.SetAutoDeletion(ctx, "", "300"))
}

// anEngineImageComesAndGoes creates an engine image, changes how its pods are probed, and lets it be without a reference for an hour.
func anEngineImageComesAndGoes(ctx context.Context, t *testing.T, w *world.World) {
	t.Helper()
	const image = "longhornio/longhorn-engine:unused"
	require.NoError(t, w.Image(ctx, image, 12))
	require.NoError(t, w.Set(ctx, "engine-image-pod-liveness-probe-timeout", "5"))
	name := client.ObjectKey{Namespace: w.Namespace, Name: "engine-image-" + v1beta2.EngineImageName(image)}
	set := &appsv1.DaemonSet{}
	require.Eventually(t, func() bool {
		return w.Admin.Get(ctx, name, set) == nil && set.Spec.Template.Spec.Containers[0].LivenessProbe.TimeoutSeconds == 5
	}, patience, tick)
	object := &v1beta2.EngineImage{ObjectMeta: metav1.ObjectMeta{Name: v1beta2.EngineImageName(image), Namespace: w.Namespace}}
	before := time.Now().Add(-2 * time.Hour).UTC().Format(time.RFC3339)
	require.NoError(t, w.Admin.Status().Patch(ctx, object, client.RawPatch("application/merge-patch+json",
		[]byte(`{"status":{"noRefSince":"`+before+`"}}`))))
	gone(ctx, t, w, object)
	require.True(t, apierrors.IsNotFound(w.Admin.Get(ctx, name, set)))
}

// aNodeIsDrained cordons the node of a replica without its engine, whose other replica is protected: its disruption budget is deleted and
// created again.
func aNodeIsDrained(ctx context.Context, t *testing.T, w *world.World) {
	t.Helper()
	const volume = "drained"
	require.NoError(t, w.Order(ctx, volume, v1beta2.DataEngineV1, 2, nil))
	require.NoError(t, w.Attach(ctx, volume, scenarios.Near, patience))
	require.NoError(t, w.WaitRobust(ctx, volume, v1beta2.VolumeRobustnessHealthy, patience))
	replicas, err := w.ReplicasOf(ctx, volume)
	require.NoError(t, err)
	for _, r := range replicas {
		if r.Spec.NodeID == scenarios.Near {
			continue
		}
		budget := &policyv1.PodDisruptionBudget{}
		name := client.ObjectKey{Namespace: w.Namespace, Name: w.InstanceManager(r.Spec.NodeID, r.Spec.DataEngine)}
		require.NoError(t, w.Cordon(ctx, r.Spec.NodeID, true))
		require.Eventually(t, func() bool { return apierrors.IsNotFound(w.Admin.Get(ctx, name, budget)) }, patience, tick)
		require.NoError(t, w.Cordon(ctx, r.Spec.NodeID, false))
		require.Eventually(t, func() bool { return w.Admin.Get(ctx, name, budget) == nil }, patience, tick)
	}
}

// ownersAreGone creates a ticket of every kind of owner whose owner does not exist.
func ownersAreGone(ctx context.Context, t *testing.T, w *world.World) {
	t.Helper()
	require.NoError(t, w.Order(ctx, "disowned", v1beta2.DataEngineV1, 1, nil))
	for _, kind := range []string{"Volume", "Snapshot", "Backup", "ShareManager", "BackingImageDataSource", "VolumeAttachment"} {
		owner := map[string]string{v1beta2.TicketOwnerKind: kind, v1beta2.TicketOwnerName: "never-made"}
		require.NoError(t, w.Ticket(ctx, "disowned", "of-"+strings.ToLower(kind), v1beta2.AttacherLonghornAPI, scenarios.Near, owner))
	}
	require.NoError(t, w.Wait(ctx, "the end of all tickets", patience, func(ctx context.Context) (string, error) {
		attachment := &v1beta2.VolumeAttachment{}
		err := w.Get(ctx, "disowned", attachment)
		return strings.Join(slices.Collect(maps.Keys(attachment.Spec.AttachmentTickets)), ", "), err
	}))
}

// settingIsRead sets a setting, and waits until its status reports that the value is applied.
func settingIsRead(ctx context.Context, t *testing.T, w *world.World, name, value string) {
	t.Helper()
	require.NoError(t, w.Set(ctx, name, value))
	require.NoError(t, w.Wait(ctx, "setting "+name+" to be in force", patience, func(ctx context.Context) (string, error) {
		s := setting(w, name, "")
		if err := w.Get(ctx, name, s); err != nil || s.Status.Applied {
			return "", err
		}
		return world.FormatConditions(s.Status.Conditions), nil
	}))
}

// oldSettingIsMigrated lets the old setting become an item of the new setting, which does not exist before.
func oldSettingIsMigrated(ctx context.Context, t *testing.T, w *world.World) {
	t.Helper()
	for _, name := range []string{autoDeletion, oldAutoDeletion} {
		require.NoError(t, client.IgnoreNotFound(w.Admin.Delete(ctx, setting(w, name, ""))))
	}
	require.NoError(t, w.Admin.Create(ctx, setting(w, oldAutoDeletion, "true")))
	gone(ctx, t, w, setting(w, oldAutoDeletion, ""))
	// Again, where the new setting exists and has to be changed.
	require.NoError(t, w.Admin.Patch(ctx, setting(w, autoDeletion, ""),
		client.RawPatch("application/merge-patch+json", []byte(`{"value":""}`))))
	require.NoError(t, w.Admin.Create(ctx, setting(w, oldAutoDeletion, "true")))
	gone(ctx, t, w, setting(w, oldAutoDeletion, ""))
}

// nodeComesAndGoes adds a node, and removes it for good.
func nodeComesAndGoes(ctx context.Context, t *testing.T, w *world.World) {
	t.Helper()
	const name = "node-9"
	require.NoError(t, w.AddNode(ctx, name))
	require.NoError(t, w.WaitNode(ctx, name, v1beta2.ConditionTrue, patience))
	require.NoError(t, w.RemoveNode(ctx, name))
	node := &v1beta2.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: w.Namespace}}
	require.NoError(t, w.Admin.Delete(ctx, node))
	gone(ctx, t, w, node)
}

// imageChanges lets every instance manager be replaced by one of another image.
func imageChanges(ctx context.Context, t *testing.T, w *world.World) {
	t.Helper()
	require.NoError(t, w.Admin.Patch(ctx, setting(w, "default-instance-manager-image", ""),
		client.RawPatch("application/merge-patch+json", []byte(`{"value":"`+otherImage("next")+`"}`))))
	old := v1beta2.InstanceManagerName(scenarios.Near, world.Image, v1beta2.DataEngineV1)
	gone(ctx, t, w, &v1beta2.InstanceManager{ObjectMeta: metav1.ObjectMeta{Name: old, Namespace: w.Namespace}})
	gone(ctx, t, w, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: old, Namespace: w.Namespace}})
}

func setting(w *world.World, name, value string) *v1beta2.Setting {
	return &v1beta2.Setting{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: w.Namespace}, Value: value}
}

func gone(ctx context.Context, t *testing.T, w *world.World, obj client.Object) {
	t.Helper()
	require.Eventually(t, func() bool {
		err := w.Admin.Get(ctx, client.ObjectKeyFromObject(obj), obj)
		return apierrors.IsNotFound(err)
	}, patience, tick, "%T %s is still there", obj, obj.GetName())
}

// otherImage returns an image whose tag names no release: it starts with the arguments that every image knows.
func otherImage(tag string) string { return "longhornio/longhorn-instance-manager:" + tag }
