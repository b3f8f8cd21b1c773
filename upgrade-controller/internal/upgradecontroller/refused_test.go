package upgradecontroller

import (
	"errors"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/upgrade-controller/internal/model"
	"drover.dev/drover/upgrade-controller/internal/nodeupgrade"
)

// acceptsPods reports whether the API server lets a person create a pod without requests.
func (w *world) acceptsPods() bool {
	w.t.Helper()
	pod := &corev1.Pod{ObjectMeta: w.meta("probe"), Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "c"}}}}
	err := w.admin.Create(w.t.Context(), pod, client.DryRunAll)
	if !apierrors.IsForbidden(err) {
		require.NoError(w.t, err)
	}
	return err == nil
}

// A check that the API server refuses blocks the upgrade at once, on every node and with the sentence of the API server. When the refusal
// has ended, a changed spec continues the upgrade.
func TestARefusedPodThatChecksAnImageBlocksTheUpgradeAtOnce(t *testing.T) {
	w := newWorld(t, succeed["case 1: engines and replicas on one node"])
	limit := &corev1.LimitRange{ObjectMeta: w.meta("at-least"), Spec: corev1.LimitRangeSpec{Limits: []corev1.LimitRangeItem{{
		Type: corev1.LimitTypePod, Min: corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("100m")}}}}}
	w.create(limit)
	w.until("pods without requests are never refused", func() bool { return !w.acceptsPods() })
	w.play()
	p := w.start()
	w.upgrade("upgrade", nil)
	m := w.reaches("upgrade", v1beta2.UpgradeStateError)
	require.Equal(t, v1beta2.ReasonUpgradeBlocked, conditions.Reason(m.Status.Conditions, v1beta2.UpgradePreflight))
	for _, part := range []string{"node-1", "node-2", "node-3", "ImageMissing", "the API server refused the pod that is to run it",
		"minimum cpu usage per Pod is 100m"} {
		require.Contains(t, m.Status.ErrorMessage, part)
	}
	require.Empty(t, w.objects().Upgrades)
	transitions, err := p.registry.Gather()
	require.NoError(t, err)
	var states []string
	for _, family := range transitions {
		for _, metric := range family.Metric {
			for _, label := range metric.Label {
				if strings.HasSuffix(family.GetName(), "transitions_total") && label.GetName() == "state" {
					states = append(states, label.GetValue())
				}
			}
		}
	}
	require.Contains(t, states, v1beta2.UpgradeStateInitializing)
	require.Contains(t, states, v1beta2.UpgradeStateError)

	require.NoError(t, w.admin.Delete(t.Context(), limit))
	w.until("pods without requests stay refused", w.acceptsPods)
	w.patch(m, `{"spec":{"maxRetries":1}}`)
	w.reaches("upgrade", v1beta2.UpgradeStateCompleted)
	w.upgraded("node-1", "node-2", "node-3")
	w.leftNothing()
}

// A check that fails for a reason that may pass keeps no other from being created, and the condition from which its time counts is written.
func TestAPodThatCannotBeCreatedKeepsNoOtherFromBeingCreated(t *testing.T) {
	w := newWorld(t, func(*model.World) {})
	w.wrap = func(c client.Client) client.Client {
		return failing(c, func(obj client.Object) error {
			if pod, is := obj.(*corev1.Pod); is && pod.Spec.NodeName == "node-1" {
				return apierrors.NewServerTimeout(corev1.Resource("pods"), "create", 1)
			}
			return nil
		})
	}
	w.start()
	w.upgrade("upgrade", func(s *v1beta2.DataEngineUpgradeManagerSpec) {
		s.Timeouts = map[string]v1beta2.StateTimeout{v1beta2.UpgradeStateInitializing: "2s"}
	})
	var pods corev1.PodList
	w.until("the other nodes are not checked", func() bool {
		require.NoError(t, w.admin.List(t.Context(), &pods, client.InNamespace(w.namespace)))
		m := w.manager("upgrade")
		return len(pods.Items) == 2 &&
			conditions.Reason(m.Status.Conditions, v1beta2.UpgradePreflight) == v1beta2.ReasonCheckingImages
	})
	m := w.reaches("upgrade", v1beta2.UpgradeStateError)
	require.Contains(t, m.Status.ErrorMessage, "the pod that runs it did not start in time")
}

// K7: a Snapshot that a quota will refuse blocks the upgrade before the node is touched.
func TestARequestThatWillBeRefusedBlocksTheUpgradeBeforeAnythingIsTouched(t *testing.T) {
	w := newWorld(t, succeed["case 1: engines and replicas on one node"])
	none := corev1.ResourceList{"count/snapshots.longhorn.io": resource.MustParse("0")}
	quota := &corev1.ResourceQuota{ObjectMeta: w.meta("no-snapshots"), Spec: corev1.ResourceQuotaSpec{Hard: none}}
	w.create(quota)
	quota.Status = corev1.ResourceQuotaStatus{Hard: none, Used: none}
	require.NoError(t, w.admin.Status().Update(t.Context(), quota))
	probe := &v1beta2.Snapshot{ObjectMeta: w.meta("probe"), Spec: v1beta2.SnapshotSpec{Volume: "vol-1"}}
	w.until("snapshots are never refused", func() bool {
		return apierrors.IsForbidden(w.admin.Create(t.Context(), probe.DeepCopy(), client.DryRunAll))
	})
	w.play()
	p := w.start()
	before := w.objects()
	w.upgrade("upgrade", func(s *v1beta2.DataEngineUpgradeManagerSpec) { s.Nodes = []string{"node-1"} })
	m := w.reaches("upgrade", v1beta2.UpgradeStateError)
	require.Contains(t, m.Status.ErrorMessage, "RequestRefused: upgrade-controller")
	require.Contains(t, m.Status.ErrorMessage, "may not create Snapshot upgrade-rehearsal-vol-")
	require.Contains(t, m.Status.ErrorMessage, "exceeded quota: no-snapshots")
	require.Contains(t, m.Status.ErrorMessage, "(and 2 more of this kind)", "of three volumes")
	after := w.objects()
	require.Empty(t, after.Upgrades)
	require.Empty(t, after.Snapshots)
	require.Equal(t, before.Nodes["node-1"].Spec, after.Nodes["node-1"].Spec)
	for _, write := range p.Client.Writes() {
		require.Regexp(t, "DataEngineUpgradeManager|Pod upgrade-image-check-", write, "nothing else is written")
	}

	require.NoError(t, w.admin.Delete(t.Context(), quota))
	w.until("snapshots stay refused", func() bool { return w.admin.Create(t.Context(), probe.DeepCopy(), client.DryRunAll) == nil })
	w.patch(m, `{"spec":{"maxRetries":1}}`)
	w.reaches("upgrade", v1beta2.UpgradeStateCompleted)
	w.leftNothing()
}

// What the API server refuses in a step keeps neither its reason nor its timeout from being stored: the node is rolled back.
func TestAStepThatIsRefusedTimesOutAndIsRolledBack(t *testing.T) {
	w := newWorld(t, succeed["case 1: engines and replicas on one node"])
	var refuses atomic.Bool
	refuses.Store(true)
	w.wrap = func(c client.Client) client.Client {
		return failing(c, func(obj client.Object) error {
			if _, is := obj.(*v1beta2.Snapshot); is && refuses.Load() && !strings.HasPrefix(obj.GetName(), rehearsalName) {
				return apierrors.NewForbidden(v1beta2.GroupVersion.WithResource("snapshots").GroupResource(), obj.GetName(),
					errors.New("a policy that came after the rehearsal"))
			}
			return nil
		})
	}
	w.play()
	w.start()
	w.upgrade("upgrade", func(s *v1beta2.DataEngineUpgradeManagerSpec) {
		s.Nodes = []string{"node-1"}
		s.Timeouts = map[string]v1beta2.StateTimeout{v1beta2.UpgradeStateInitializing: "8s"}
	})
	w.until("it is not reported that the snapshot is waited for", func() bool {
		u := w.node("upgrade-node-1")
		return u != nil && u.Status.State == v1beta2.UpgradeStateInitializing &&
			conditions.Reason(u.Status.Conditions, v1beta2.UpgradeProgressing) == v1beta2.ReasonWaitingForSnapshot
	})
	m := w.reaches("upgrade", v1beta2.UpgradeStateError)
	require.Contains(t, m.Status.ErrorMessage, "Rolled back from state initializing")
	w.leftNothing()

	refuses.Store(false)
	w.patch(m, `{"spec":{"timeouts":null}}`)
	w.reaches("upgrade", v1beta2.UpgradeStateCompleted)
	w.leftNothing()
}

// Effects of volumes do not depend on one another, what follows them does, and so does the next state.
func TestARefusedEffectStopsWhatReliesOnItAndNothingElse(t *testing.T) {
	w := newWorld(t, func(m *model.World) {
		m.AddVolume("vol-1", "node-1", "node-1", "node-2")
		m.AddVolume("vol-2", "node-1", "node-1", "node-2")
		m.Nodes["node-1"].Spec.UpgradeRequested = true
	})
	u := &v1beta2.NodeDataEngineUpgrade{ObjectMeta: w.meta("evaluated")}
	u.Spec = v1beta2.NodeDataEngineUpgradeSpec{NodeID: "node-1", DataEngine: v1beta2.DataEngineV2, InstanceManagerImage: model.NewImage,
		DataEngineUpgradeManager: "m"}
	w.create(u)
	c := failing(w.admin, func(obj client.Object) error {
		if obj.GetName() == "vol-1" {
			return apierrors.NewForbidden(v1beta2.GroupVersion.WithResource("volumes").GroupResource(), "vol-1", errors.New("a policy"))
		}
		return nil
	})
	effects := []nodeupgrade.Effect{
		{Kind: nodeupgrade.SetTarget, Name: "vol-1", Volume: "vol-1", Node: "node-2"},
		{Kind: nodeupgrade.SetTarget, Name: "vol-2", Volume: "vol-2", Node: "node-2"},
		{Kind: nodeupgrade.OpenNode, Name: "node-1"},
	}
	apply := func(state, message string) (bool, error) {
		world := &nodeupgrade.World{Upgrade: w.node("evaluated"), Cluster: w.objects().Cluster()}
		after := *world.Upgrade.Status.DeepCopy()
		after.State, after.ErrorMessage = state, message
		return applyNode(t.Context(), c, world, nodeupgrade.Verdict{Effects: effects, Status: after})
	}
	wrote, err := apply(v1beta2.UpgradeStateCompleted, "")
	require.True(t, apierrors.IsForbidden(err) && !wrote, "%v %v", wrote, err)
	require.Empty(t, w.node("evaluated").Status.State, "the next state relies on the effects")
	require.Equal(t, "node-2", w.objects().Volumes["vol-2"].Spec.TargetNodeID)
	require.True(t, w.objects().Nodes["node-1"].Spec.UpgradeRequested, "what comes after a refused effect is not done")

	wrote, err = apply("", "it waits")
	require.True(t, apierrors.IsForbidden(err) && wrote, "%v %v", wrote, err)
	require.Equal(t, "it waits", w.node("evaluated").Status.ErrorMessage)
}
