package nodecontroller

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/disk-controller/internal/defaults"
	"drover.dev/drover/disk-controller/internal/environment"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/setting"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/cut"
)

const added = "default-disk-0000000000fd"

func request() map[string]string {
	return map[string]string{v1beta2.AnnotationDefaultDisk: v1beta2.DefaultDiskRequest{Path: "/data", ReservedPercent: 10}.String()}
}

func TestANewNodeGetsItsDefaultDiskOnce(t *testing.T) {
	e := newEnv(t)
	e.kubernetes(nil, nil)
	n := e.node(request())
	p := e.start(cut.Point{})
	n = e.await(n, "its disk", func(n *v1beta2.Node) bool { return len(n.Spec.Disks) > 0 })
	require.Equal(t, map[string]v1beta2.DiskSpec{added: {Path: "/data", DiskType: v1beta2.DiskTypeFilesystem, AllowScheduling: true,
		StorageReserved: 10}}, n.Spec.Disks)
	require.Empty(t, n.Annotations)
	e.await(n, "its conditions", func(n *v1beta2.Node) bool { return len(n.Status.Conditions) == len(environment.Types()) })
	require.Len(t, p.Client.Writes(), 2, "%v", p.Client.Writes())

	require.NoError(t, status.MergeSpec(t.Context(), e.admin, n, map[string]any{"disks": map[string]any{added: nil}}))
	e.tag(`["fast"]`)
	n = e.await(n, "the tag", func(n *v1beta2.Node) bool { return len(n.Spec.Tags) > 0 })
	require.Empty(t, n.Spec.Disks, "a Node that lost its disks gets no other")
}

func TestANodeWithDisksKeepsThem(t *testing.T) {
	e := newEnv(t)
	e.kubernetes(nil, nil)
	n := e.node(request(), func(n *v1beta2.Node) { n.Spec.Disks = map[string]v1beta2.DiskSpec{"mine": {Path: "/mine"}} })
	e.start(cut.Point{})
	n = e.await(n, "the end of the request", func(n *v1beta2.Node) bool { return len(n.Annotations) == 0 })
	require.Equal(t, map[string]v1beta2.DiskSpec{"mine": {Path: "/mine"}}, n.Spec.Disks)
}

func TestALabelledNodeGetsWhatItsAnnotationSays(t *testing.T) {
	e := newEnv(t)
	e.set(setting.DefaultDiskLabeledOnly, "true")
	e.kubernetes(map[string]string{defaults.LabelCreate: defaults.LabelConfig},
		map[string]string{defaults.AnnotationDisks: `[{"path":"data"}]`, defaults.AnnotationTags: `["rack-a"]`})
	n := e.node(nil)
	e.start(cut.Point{})
	n = e.await(n, "a condition", func(n *v1beta2.Node) bool {
		return conditions.IsFalse(n.Status.Conditions, v1beta2.NodeDefaultsApplied) && len(n.Spec.Tags) > 0
	})
	c := conditions.Get(n.Status.Conditions, v1beta2.NodeDefaultsApplied)
	require.Equal(t, v1beta2.ReasonInvalidDefaults, c.Reason)
	require.Contains(t, c.Message, "Correct it")
	require.Empty(t, n.Spec.Disks)
	require.Equal(t, []string{"rack-a"}, n.Spec.Tags)

	e.annotate(defaults.AnnotationDisks, `[{"name":"a","path":"/data","allowScheduling":true,"tags":["ssd"]}]`)
	n = e.await(n, "its disk", func(n *v1beta2.Node) bool {
		return len(n.Spec.Disks) > 0 && conditions.Get(n.Status.Conditions, v1beta2.NodeDefaultsApplied) == nil
	})
	require.Equal(t, map[string]v1beta2.DiskSpec{"a": {Path: "/data", DiskType: v1beta2.DiskTypeFilesystem, AllowScheduling: true,
		StorageReserved: 30, Tags: []string{"ssd"}}}, n.Spec.Disks)
}

func TestAMissingDirectoryIsWaitedFor(t *testing.T) {
	e := newEnv(t)
	e.problem.Store("there is no such directory")
	e.kubernetes(nil, nil)
	n := e.node(request())
	e.start(cut.Point{})
	n = e.await(n, "a condition", func(n *v1beta2.Node) bool {
		return conditions.Reason(n.Status.Conditions, v1beta2.NodeDefaultsApplied) == v1beta2.ReasonNoDirectory
	})
	require.NotEmpty(t, n.Annotations, "the request stays")
	e.problem.Store("")
	e.tag(`["fast"]`) // decides again before the pause ends
	n = e.await(n, "its disk", func(n *v1beta2.Node) bool {
		return len(n.Spec.Disks) > 0 && conditions.Get(n.Status.Conditions, v1beta2.NodeDefaultsApplied) == nil
	})
	require.Empty(t, n.Annotations)
}

// Whichever write the process dies at, the Node gets its disk once.
func TestACrashLeadsToTheSameDefaultDisk(t *testing.T) {
	for _, at := range cut.Points(2) {
		t.Run(at.String(), func(t *testing.T) {
			e := newEnv(t)
			e.kubernetes(nil, map[string]string{defaults.AnnotationTags: `["fast"]`})
			n := e.node(request())
			<-e.start(at).Ended()
			e.start(cut.Point{})
			n = e.await(n, "its disk", func(n *v1beta2.Node) bool { return len(n.Spec.Disks) == 1 && len(n.Spec.Tags) == 1 })
			require.Empty(t, n.Annotations)
			require.Contains(t, n.Spec.Disks, added)
		})
	}
}

// A bad value is reported by an event of each process; the status of the Setting is another binary's.
func TestABadSettingIsReportedWithoutItsStatus(t *testing.T) {
	e := newEnv(t)
	s := e.set(setting.DefaultDataPath, "relative")
	e.start(cut.Point{})
	require.Eventually(t, func() bool { return e.hasEvent("SettingInvalid", s.Name) }, time.Minute, testkit.Poll)
	require.NoError(t, e.admin.Get(t.Context(), client.ObjectKeyFromObject(s), s))
	require.Empty(t, s.Status.Conditions)
}

// A stolen token gives disks to a bare Node of its own only, and never lets a device be formatted.
func TestATokenGivesDisksToItsOwnBareNodeOnly(t *testing.T) {
	e := newEnv(t)
	n := e.node(nil, func(n *v1beta2.Node) { n.Labels = map[string]string{"a": "b"} })
	other := &v1beta2.Node{ObjectMeta: metav1.ObjectMeta{Namespace: e.namespace, Name: e.name + "-other"}}
	require.NoError(t, e.admin.Create(t.Context(), other))
	thief := testkit.Client(t, e.identity)
	spec := func(n *v1beta2.Node, fields map[string]any) error {
		return status.MergeSpec(t.Context(), thief, n, fields)
	}
	disks := func(fields map[string]any) map[string]any {
		return map[string]any{"disks": map[string]any{"a": fields}}
	}
	good := disks(map[string]any{"path": "/data"})
	require.Eventually(t, func() bool { return spec(other, good) != nil }, time.Minute, testkit.Poll, "the policy is in force")
	require.ErrorContains(t, spec(other, good), "this token of disk-controller is for node")
	require.ErrorContains(t, spec(n, map[string]any{"allowScheduling": true}), "changes nothing else in its spec")
	format := disks(map[string]any{"path": "/dev/sdb", "diskType": "block", "initialize": "new"})
	require.ErrorContains(t, spec(n, format), "changes nothing else in its spec")
	for _, metadata := range []map[string]any{{"labels": map[string]any{"a": "c"}}, {"finalizers": []string{"a.b/c"}},
		{"annotations": map[string]any{"a": "b"}}} {
		require.ErrorContains(t, status.Merge(t.Context(), thief, n, "metadata", metadata), "changes nothing else in the metadata")
	}
	require.NoError(t, spec(n, good))
	require.NoError(t, spec(n, map[string]any{"tags": []string{"x"}}))
	require.ErrorContains(t, spec(n, disks(map[string]any{"path": "/other"})), "changes nothing else in its spec")
	require.ErrorContains(t, spec(n, disks(nil)), "changes nothing else in its spec")
	require.ErrorContains(t, spec(n, map[string]any{"tags": []string{"y"}}), "changes nothing else in its spec")
	lie := map[string]any{"conditions": []any{map[string]any{"type": "Ready", "status": "True"}}}
	require.ErrorContains(t, status.MergeStatus(t.Context(), thief, n, lie), "changes only diskStatus and its own conditions")
	require.NoError(t, status.MergeStatus(t.Context(), e.admin, n, lie))
	require.ErrorContains(t, status.MergeStatus(t.Context(), thief, n, map[string]any{"conditions": nil}), "its own conditions")
}

// A new Kubernetes node without a Longhorn Node costs nothing.
func TestAKubernetesNodeWithoutANodeIsLeftAlone(t *testing.T) {
	e := newEnv(t)
	k := e.kubernetes(map[string]string{defaults.LabelCreate: defaults.LabelDefault}, nil)
	p := e.start(cut.Point{})
	before := testkit.Reconciles(t, "node")
	e.tag(`["fast"]`)
	require.Eventually(t, func() bool { return testkit.Reconciles(t, "node") > before }, time.Minute, testkit.Poll)
	require.Empty(t, p.Client.Writes(), k.Name)
	require.NoError(t, client.IgnoreNotFound(e.admin.Get(t.Context(), client.ObjectKey{Name: e.name}, &corev1.Node{})))
}
