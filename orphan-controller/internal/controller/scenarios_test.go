package controller

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/orphan-controller/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/status"
)

// O9: a person's deletion is approved at once, without a reason of policy, and ends with the proof.
func TestAPersonsDeletionIsApprovedAndEndsWithTheProof(t *testing.T) {
	w := newWorld(t)
	w.autoDeletion("", "3600")
	o := w.orphan("vol-1-e-0", v1beta2.ReasonNoOwnerCR)
	p := w.start()
	w.personDeletes(o)
	approved := w.reaches(o, v1beta2.ReasonApproved, true)
	require.Nil(t, conditions.Get(approved.Status.Conditions, v1beta2.OrphanDeletionReason))
	require.Equal(t, v1beta2.ConditionTrue, conditions.Get(approved.Status.Conditions, v1beta2.OrphanOrphaned).Status,
		"im-monitor's conditions are not touched")
	w.stays(o, "the finalizer stays until the proof")
	w.executed(o)
	w.gone(o)
	require.Len(t, ofOrphans(p.Client.Writes()), 2, "one approval, one finalizer: %v", p.Client.Writes())
	w.until("no event reports the end", func() bool { return w.hasEvent("Cleaned") && w.hasEvent("CleanupApproved") })
}

// ofOrphans are the writes to Orphans. Writes to the status of Settings come at any time.
func ofOrphans(writes []string) []string {
	return slices.DeleteFunc(writes, func(write string) bool { return !strings.Contains(write, " Orphan") })
}

func (w *world) hasEvent(reason string) bool {
	w.t.Helper()
	var list eventsv1.EventList
	require.NoError(w.t, w.admin.List(w.t.Context(), &list, client.InNamespace(w.namespace)))
	for _, e := range list.Items {
		if e.Reason == reason {
			return true
		}
	}
	return false
}

// O10 [ORP-1].
func TestAClaimRefusesTheCleanupUntilItIsWithdrawn(t *testing.T) {
	w := newWorld(t)
	o := w.orphan("vol-1-r-aabbccdd", v1beta2.ReasonNoOwnerCR)
	w.create(&v1beta2.Replica{ObjectMeta: w.meta("vol-1-r-aabbccdd"),
		Spec: v1beta2.ReplicaSpec{VolumeName: "vol-1", NodeID: "node-1", DesireState: "running"}})
	w.start()
	w.personDeletes(o)
	refused := w.reaches(o, v1beta2.ReasonClaimed, true)
	require.True(t, conditions.IsFalse(refused.Status.Conditions, v1beta2.OrphanCleanupApproved))
	w.report(o, present(v1beta2.ReasonNoOwnerCR, withdrawnAs(v1beta2.ReasonClaimed))...)
	w.gone(o)
}

func TestAClaimTakesAnApprovalBack(t *testing.T) {
	w := newWorld(t)
	o := w.orphan("vol-1-r-aabbccdd", v1beta2.ReasonNoOwnerCR)
	w.start()
	w.personDeletes(o)
	w.reaches(o, v1beta2.ReasonApproved, true)
	r := &v1beta2.Replica{ObjectMeta: w.meta("vol-1-r-aabbccdd"),
		Spec: v1beta2.ReplicaSpec{VolumeName: "vol-1", NodeID: "node-1", DesireState: "running"}}
	w.create(r)
	w.reaches(o, v1beta2.ReasonClaimed, true)
	w.personDeletes(r)
	w.reaches(o, v1beta2.ReasonApproved, true)
}

// O11, O12: a deleted node is positive evidence, an instance manager that does not answer is not.
func TestADownNodeEndsItsOrphansAndAnUnreachableManagerDoesNot(t *testing.T) {
	w := newWorld(t)
	standing, deleted := w.orphan("vol-1-e-0", v1beta2.ReasonNoOwnerCR), w.orphan("vol-2-e-0", v1beta2.ReasonNoOwnerCR)
	w.start()
	w.personDeletes(deleted)
	w.reaches(deleted, v1beta2.ReasonApproved, true)
	w.nodeCondition("node-1", v1beta2.ConditionFalse, v1beta2.ReasonInstanceManagerUnreachable)
	w.stays(deleted, "an unreachable instance manager still exists")
	w.nodeCondition("node-1", v1beta2.ConditionFalse, v1beta2.ReasonKubernetesNodeNotReady)
	w.gone(deleted)
	w.gone(standing)
}

func TestADeletedNodeOrInstanceManagerEndsItsOrphans(t *testing.T) {
	w := newWorld(t)
	o := w.orphan("vol-1-e-0", v1beta2.ReasonNoOwnerCR)
	w.start()
	w.personDeletes(&v1beta2.InstanceManager{ObjectMeta: w.meta("im-1")})
	w.gone(o)
	w.instanceManager("im-1", 0)
	again := w.orphan("vol-1-e-0", v1beta2.ReasonNoOwnerCR)
	w.personDeletes(&v1beta2.Node{ObjectMeta: w.meta("node-1")})
	w.gone(again)
}

// O12: eviction does not wait for the grace period, and spares a last copy.
func TestEvictionDeletesButNotALastCopy(t *testing.T) {
	w := newWorld(t)
	w.autoDeletion("", "3600")
	w.create(&v1beta2.Volume{ObjectMeta: w.meta("vol-2")})
	free, last := w.orphan("vol-1-r-aabbccdd", v1beta2.ReasonNoOwnerCR), w.orphan("vol-2-r-aabbccdd", v1beta2.ReasonDataOnly)
	w.start()
	node := &v1beta2.Node{ObjectMeta: w.meta("node-1")}
	require.NoError(t, w.admin.Patch(t.Context(), node,
		client.RawPatch("application/merge-patch+json", []byte(`{"spec":{"evictionRequested":true}}`))))
	evicted := w.reaches(free, v1beta2.ReasonApproved, true)
	require.Equal(t, v1beta2.ReasonEviction, conditions.Reason(evicted.Status.Conditions, v1beta2.OrphanDeletionReason))
	w.reaches(last, v1beta2.ReasonLastCopy, false)
	w.executed(free)
	w.gone(free)
}

// O13: off, on with a grace period, promptly after it, for existing orphans and new ones.
func TestAutoDeletionWaitsForTheGracePeriodAndNoLonger(t *testing.T) {
	w := newWorld(t)
	existing := w.orphan("vol-1-e-0", v1beta2.ReasonNoOwnerCR)
	p := w.start()
	w.stays(existing, "with auto deletion off orphans persist")
	w.setting(setting.GracePeriod, "2")
	w.setting(setting.AutoDeletion, "instance")
	fresh := w.orphan("vol-2-e-0", v1beta2.ReasonNoOwnerCR)
	w.reaches(fresh, v1beta2.ReasonGracePeriod, false)
	deleted := w.reaches(fresh, v1beta2.ReasonApproved, true)
	require.Equal(t, v1beta2.ReasonAutoDeletion, conditions.Reason(deleted.Status.Conditions, v1beta2.OrphanDeletionReason))
	waited := deleted.DeletionTimestamp.Sub(deleted.CreationTimestamp.Time)
	require.GreaterOrEqual(t, waited, 2*time.Second, "not before the grace period's end")
	require.LessOrEqual(t, waited, 4*time.Second, "promptly after it")
	w.reaches(existing, v1beta2.ReasonApproved, true)
	for _, o := range []*v1beta2.Orphan{existing, fresh} {
		w.executed(o)
		w.gone(o)
	}
	require.Positive(t, p.metric(t, "drover_orphan_controller_deletions_total"))
}

func (p *process) metric(t *testing.T, name string) float64 {
	t.Helper()
	families, err := p.registry.Gather()
	require.NoError(t, err)
	sum := 0.0
	for _, family := range families {
		if family.GetName() == name {
			for _, m := range family.GetMetric() {
				sum += m.GetCounter().GetValue() + m.GetGauge().GetValue()
			}
		}
	}
	return sum
}

func TestAutoDeletionTurnedOffDuringTheGracePeriodIsCancelled(t *testing.T) {
	w := newWorld(t)
	w.autoDeletion("instance", "3600")
	o := w.orphan("vol-1-e-0", v1beta2.ReasonNoOwnerCR)
	w.start()
	w.reaches(o, v1beta2.ReasonGracePeriod, false)
	w.setting(setting.AutoDeletion, "replica-data")
	w.reaches(o, "", false)
}

// O13: a last copy is held, also when it becomes one while its deletion is being carried out.
func TestALastCopyIsHeldAndReleased(t *testing.T) {
	w := newWorld(t)
	w.autoDeletion("instance", "0")
	w.create(&v1beta2.Volume{ObjectMeta: w.meta("vol-1")})
	w.create(&v1beta2.Node{ObjectMeta: w.meta("node-2")})
	w.nodeReady("node-2")
	other := &v1beta2.Replica{ObjectMeta: w.meta("vol-1-r-00000002"), Spec: v1beta2.ReplicaSpec{
		VolumeName: "vol-1", NodeID: "node-2", DesireState: "running", HealthyAt: "2026-08-01T00:00:00Z", DataEngine: "v2",
	}}
	other.Labels = map[string]string{v1beta2.LabelVolume: v1beta2.VolumeLabelValue("vol-1")}
	w.create(other)
	o := w.orphan("vol-1-r-aabbccdd", v1beta2.ReasonDataOnly)
	w.start()
	w.reaches(o, v1beta2.ReasonLastCopy, false)
	w.setStatus(other, map[string]any{"currentState": "running", "uuid": "uuid-2"})
	w.stays(o, "the stored status proves no copy")
	im := &v1beta2.InstanceManager{ObjectMeta: w.meta("im-2"),
		Spec: v1beta2.InstanceManagerSpec{NodeID: "node-2", DataEngine: "v2", Type: "aio"}}
	w.create(im)
	w.setStatus(im, map[string]any{
		"instanceReplicas": map[string]any{other.Name: map[string]any{"status": map[string]any{"uuid": "uuid-of-before",
			"state": "running"}}}})
	w.stays(o, "another instance of the name proves no copy")
	w.setStatus(im, map[string]any{"instanceReplicas": map[string]any{other.Name: map[string]any{"status": map[string]any{"uuid": "uuid-2",
		"state": "running"}}}})
	w.reaches(o, v1beta2.ReasonApproved, true)
	w.nodeCondition("node-2", v1beta2.ConditionFalse, v1beta2.ReasonKubernetesNodeNotReady)
	held := w.reaches(o, v1beta2.ReasonLastCopy, true)
	require.Equal(t, v1beta2.ReasonAutoDeletion, conditions.Reason(held.Status.Conditions, v1beta2.OrphanDeletionReason))
	w.nodeReady("node-2")
	w.reaches(o, v1beta2.ReasonApproved, true)

	w.nodeCondition("node-2", v1beta2.ConditionFalse, v1beta2.ReasonKubernetesNodeNotReady)
	held = w.reaches(o, v1beta2.ReasonLastCopy, true)
	command := v1beta2.DeleteByHandCommand(held)
	require.Contains(t, conditions.Get(held.Status.Conditions, v1beta2.OrphanCleanupApproved).Message, command)
	key, value, _ := strings.Cut(command[strings.LastIndex(command, " ")+1:], "=")
	require.NoError(t, w.admin.Patch(t.Context(), held, client.RawPatch("application/merge-patch+json",
		[]byte(`{"metadata":{"annotations":{`+quote(key)+`:`+quote(value)+`}}}`))))
	w.reaches(o, v1beta2.ReasonApproved, true)
	w.executed(o)
	w.gone(o)
}

// ORP-5: a missing object is no reason to delete, whether or not the volume has one. A reason is the record that the instance was
// abandoned, or its own object, which exists again and names another node.
func TestAnInstanceWithoutAnObjectIsDeletedOnlyIfItWasAbandoned(t *testing.T) {
	for sentence, let := range map[string]func(*world){
		"the instance was abandoned": func(w *world) { w.givenUp("vol-1-e-0", map[string]any{"uuid": "uuid-1", "dataEngine": "v2"}) },
		"a person gave exactly this orphan up": func(w *world) {
			var all v1beta2.OrphanList
			require.NoError(w.t, w.admin.List(w.t.Context(), &all, client.InNamespace(w.namespace)))
			given := map[string]any{v1beta2.AnnotationGivenUp: all.Items[0].UID, v1beta2.AnnotationGivenUpBy: "jane 2026-08-01T12:00:00Z"}
			require.NoError(w.t, status.MergeMetadata(w.t.Context(), w.admin, &all.Items[0], map[string]any{"annotations": given}))
		},
		"its own engine is on another node": func(w *world) {
			w.create(&v1beta2.Engine{ObjectMeta: w.meta("vol-1-e-0"), Spec: v1beta2.EngineSpec{VolumeName: "vol-1", NodeID: "node-2"}})
		},
	} {
		t.Run(sentence, func(t *testing.T) {
			w := newWorld(t)
			w.autoDeletion("instance", "0")
			o := w.orphan("vol-1-e-0", v1beta2.ReasonNoOwnerCR)
			w.givenUp("vol-1-e-0", nil)
			w.create(&v1beta2.Volume{ObjectMeta: w.meta("vol-1")})
			w.create(&v1beta2.Engine{ObjectMeta: w.meta("vol-1-e-1"), Spec: v1beta2.EngineSpec{VolumeName: "vol-1"}})
			w.start()
			w.reaches(o, v1beta2.ReasonNotAbandoned, false)
			w.givenUp("vol-1-e-0", map[string]any{"uuid": "uuid-of-before", "dataEngine": "v2"})
			w.stays(o, "another instance of the name was abandoned")
			let(w)
			w.reaches(o, v1beta2.ReasonApproved, true)
		})
	}
}

// The cache may lag; policy reads the API server before it approves, and again before it deletes.
func TestPolicyDecidesOnUncachedReads(t *testing.T) {
	for name, c := range map[string]struct {
		hides  func(client.Object) bool
		reason string
	}{
		"a volume that the cache has not seen": {
			func(obj client.Object) bool { _, is := obj.(*v1beta2.Volume); return is }, v1beta2.ReasonLastCopy},
		"a node that the cache has not seen": {
			func(obj client.Object) bool { _, is := obj.(*v1beta2.Node); return is }, v1beta2.ReasonLastCopy},
		"an instance manager that the cache has not seen": {
			func(obj client.Object) bool { _, is := obj.(*v1beta2.InstanceManager); return is }, v1beta2.ReasonLastCopy},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.hides = c.hides
			w.autoDeletion("instance", "0")
			w.create(&v1beta2.Volume{ObjectMeta: w.meta("vol-1")})
			o := w.orphan("vol-1-r-aabbccdd", v1beta2.ReasonNoOwnerCR)
			w.start()
			w.reaches(o, c.reason, false)
			w.stays(o, "it is not deleted")
		})
	}
}

func TestAPersistentVolumeAloneKeepsALastCopy(t *testing.T) {
	w := newWorld(t)
	w.autoDeletion("instance", "0")
	volume := "pvc-" + w.namespace
	pv := &corev1.PersistentVolume{ObjectMeta: metav1.ObjectMeta{Name: w.namespace}}
	pv.Spec = corev1.PersistentVolumeSpec{
		Capacity: corev1.ResourceList{}, AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce},
		PersistentVolumeSource: corev1.PersistentVolumeSource{CSI: &corev1.CSIPersistentVolumeSource{Driver: v1beta2.CSIDriver,
			VolumeHandle: volume}},
	}
	pv.Spec.Capacity[corev1.ResourceStorage] = resource.MustParse("1Gi")
	w.create(pv)
	o := w.orphan(volume+"-r-aabbccdd", v1beta2.ReasonNoOwnerCR)
	w.start()
	w.reaches(o, v1beta2.ReasonLastCopy, false)
	// Without a volume controller nothing removes the protection finalizer.
	require.NoError(t, w.admin.Patch(t.Context(), pv,
		client.RawPatch("application/merge-patch+json", []byte(`{"metadata":{"finalizers":null}}`))))
	w.personDeletes(pv)
	w.reaches(o, v1beta2.ReasonApproved, true)
}

// O13: a flood is held until a person acknowledges it by turning auto deletion off and on again.
func TestAFloodIsHeldUntilItIsAcknowledged(t *testing.T) {
	w := newWorld(t)
	w.instanceManager("im-2", 20)
	w.autoDeletion("instance", "2")
	w.limits.InFlightPerNode = 3
	p := w.start()
	var flood []*v1beta2.Orphan
	for i := range 12 {
		flood = append(flood, w.orphan("vol-"+string(rune('a'+i))+"-e-0", v1beta2.ReasonNoOwnerCR))
	}
	for _, o := range flood {
		w.reaches(o, v1beta2.ReasonFlood, false)
	}
	w.setting(setting.AutoDeletion, "")
	for _, o := range flood {
		w.reaches(o, v1beta2.ReasonAcknowledged, false)
	}
	w.setting(setting.AutoDeletion, "instance")
	most := w.executeAll(flood)
	require.LessOrEqual(t, most, 3, "no more than three were under way at once")
	require.Equal(t, 12.0, p.metric(t, "drover_orphan_controller_deletions_total"))
}

// executeAll acts as im-monitor until all orphans are gone, and returns the maximum of approvals at the same time.
func (w *world) executeAll(list []*v1beta2.Orphan) int {
	w.t.Helper()
	most := 0
	w.until("not all orphans were removed", func() bool {
		var found v1beta2.OrphanList
		require.NoError(w.t, w.admin.List(w.t.Context(), &found, client.InNamespace(w.namespace)))
		var underWay []*v1beta2.Orphan
		for i := range found.Items {
			if inFlight(&found.Items[i]) {
				underWay = append(underWay, &found.Items[i])
			}
		}
		most = max(most, len(underWay))
		for _, o := range underWay {
			if o.DeletionTimestamp != nil {
				w.executed(o)
				break
			}
		}
		return len(found.Items) == 0
	})
	return most
}

func TestPolicyDeletionsOfANodeAreLimited(t *testing.T) {
	w := newWorld(t)
	w.limits.InFlightPerNode = 2
	var list []*v1beta2.Orphan
	for i := range 8 {
		list = append(list, w.orphan("vol-"+string(rune('a'+i))+"-e-0", v1beta2.ReasonOwnedByOtherInstanceManager))
	}
	w.autoDeletion("instance", "0")
	w.start()
	require.LessOrEqual(t, w.executeAll(list), 2)
}

func TestADryRunReportsWhatItWouldDeleteAndDeletesNothing(t *testing.T) {
	w := newWorld(t)
	w.limits.DryRun = true
	w.autoDeletion("instance", "0")
	o := w.orphan("vol-1-e-0", v1beta2.ReasonNoOwnerCR)
	p := w.start()
	w.reaches(o, v1beta2.ReasonDryRun, false)
	w.until("no event", func() bool { return w.hasEvent("WouldDelete") })
	require.Equal(t, 1.0, p.metric(t, "drover_orphan_controller_would_delete_total"))
	w.stays(o, "nothing is deleted in a dry run")
}

// O17b: whatever the reason of the withdrawal, deleted or not: the CR is removed, and nothing is ever approved.
func TestAWithdrawnOrphanGoesWithoutApproval(t *testing.T) {
	w := newWorld(t)
	for i, reason := range []string{v1beta2.ReasonInstanceGone, v1beta2.ReasonUUIDMismatch, v1beta2.ReasonClaimed, v1beta2.ReasonRenamed} {
		o := w.orphan("vol-"+string(rune('a'+i))+"-e-0", v1beta2.ReasonNoOwnerCR)
		w.report(o, present(v1beta2.ReasonNoOwnerCR, withdrawnAs(reason))...)
		if i%2 == 0 {
			w.personDeletes(o)
		}
	}
	p := w.start()
	w.until("the orphans were not removed", func() bool {
		var list v1beta2.OrphanList
		require.NoError(t, w.admin.List(t.Context(), &list, client.InNamespace(w.namespace)))
		return len(list.Items) == 0
	})
	for _, write := range p.Client.Writes() {
		require.NotContains(t, write, "status")
	}
}

// O17c: a deletion by policy that was held back is held back after a restart, too.
func TestAHeldPolicyDeletionStaysAPolicyDeletionAfterARestart(t *testing.T) {
	w := newWorld(t)
	w.autoDeletion("instance", "0")
	o := w.orphan("vol-1-e-0", v1beta2.ReasonNoOwnerCR)
	w.start()
	w.reaches(o, v1beta2.ReasonApproved, true)
	w.setting(setting.AutoDeletion, "")
	w.reaches(o, v1beta2.ReasonAcknowledged, true)
	w.stop()
	w.start()
	w.stays(o, "it still waits")
	w.setting(setting.AutoDeletion, "instance")
	w.reaches(o, v1beta2.ReasonApproved, true)
	w.executed(o)
	w.gone(o)
}

func TestAnOrphanWithoutEvaluationEndsAfterTheWait(t *testing.T) {
	w := newWorld(t)
	o := w.orphan("vol-1-e-0", "")
	w.finalizers(o, v1beta2.Finalizer, "drover.test/held") // so that the test can read it at its end
	w.start()
	w.personDeletes(o)
	w.reaches(o, v1beta2.ReasonNotJudged, true)
	w.until("its finalizer was not removed", func() bool { return !slices.Contains(w.now(o).Finalizers, v1beta2.Finalizer) })
	w.finalizers(o)
	w.gone(o)
}

// At a take-over, im-monitor leaves what is being deleted alone for minutes after its election: a person's wish outlasts them.
func TestAnOrphanThatWasDeletedBeforeTheControllerRanWaitsForItsEvaluation(t *testing.T) {
	w := newWorld(t)
	w.limits.EvaluationWait = 5 * time.Second
	o := w.orphan("vol-1-e-0", "")
	w.personDeletes(o)
	w.until("its deletion is not older than the wait", func() bool {
		return time.Since(w.now(o).DeletionTimestamp.Time) > w.limits.EvaluationWait+time.Second
	})
	w.start()
	w.reaches(o, v1beta2.ReasonNotJudged, true)
	w.report(o, present(v1beta2.ReasonNoOwnerCR)...)
	w.reaches(o, v1beta2.ReasonApproved, true)
}

// ALL-1.
func TestAQuietClusterGetsNoWrites(t *testing.T) {
	w := newWorld(t)
	w.orphan("vol-1-e-0", v1beta2.ReasonNoOwnerCR)
	o := w.orphan("vol-1-r-aabbccdd", v1beta2.ReasonOwnedByOtherInstanceManager)
	p := w.start()
	w.stays(o, "nothing was requested")
	require.Empty(t, p.Client.Writes())
}
