package replica

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"drover.dev/drover/shared/api/v1beta2"
	sharedsetting "drover.dev/drover/shared/setting"
)

func oneOf[T any](t *rapid.T, label string, of ...T) T { return rapid.SampledFrom(of).Draw(t, label) }

func rarely(t *rapid.T, label string) bool { return rapid.IntRange(0, 7).Draw(t, label) == 0 }

// anyTime is some time ago, unknown, or nonsense.
func anyTime(t *rapid.T, label string) string {
	return oneOf(t, label, "", ago(0), ago(3*time.Second), ago(time.Minute), ago(2*time.Hour), "nonsense")
}

func anyMode(t *rapid.T) string {
	return oneOf(t, "mode", v1beta2.ReplicaModeRW, v1beta2.ReplicaModeRW, v1beta2.ReplicaModeWO, v1beta2.ReplicaModeERR, "")
}

func anyReplica(t *rapid.T, node string) *v1beta2.Replica {
	r := newReplica(node)
	state := []string{v1beta2.InstanceStateRunning, v1beta2.InstanceStateStopped, v1beta2.InstanceStateError, ""}
	r.Spec.DataEngine = oneOf(t, "engine of the replica", v1beta2.DataEngineV1, v1beta2.DataEngineV2)
	r.Spec.DesireState, r.Status.CurrentState = oneOf(t, "wanted", state[:2]...), oneOf(t, "is", state...)
	r.Spec.HealthyAt, r.Spec.LastHealthyAt = anyTime(t, "healthy"), anyTime(t, "healthy last")
	if rapid.Bool().Draw(t, "failed") {
		r.Spec.FailedAt = anyTime(t, "failed at")
	}
	r.Spec.RebuildRetryCount = rapid.IntRange(-1, 6).Draw(t, "retries")
	r.Spec.EvictionRequested = rarely(t, "marked")
	if rarely(t, "without a node") {
		r.Spec.NodeID, r.Spec.DiskID = "", oneOf(t, "disk", "", "", "disk-a")
	}
	if rarely(t, "being deleted") {
		r.Status.LookRequestedAt = anyTime(t, "poll requested for it")
		r.DeletionTimestamp = &metav1.Time{Time: now.Add(-oneOf(t, "deleted", 0, time.Second, time.Hour))}
	}
	for _, c := range []string{v1beta2.ReplicaDataRemovalApproved, v1beta2.ReplicaDataRemoved, v1beta2.InstanceNodeDown} {
		if rarely(t, c) {
			r.Status.Conditions = append(r.Status.Conditions, v1beta2.Condition{Type: c, Status: v1beta2.ConditionTrue, Reason: elsewhere})
		}
	}
	return r
}

func anyVolume(t *rapid.T, w *World) {
	v := w.Volume
	v.Spec.NumberOfReplicas = rapid.IntRange(0, 4).Draw(t, "wanted")
	v.Spec.DataLocality = oneOf(t, "locality", "disabled", "best-effort", "strict-local", "")
	v.Status.RestoreRequired, w.Engine.Status.IsExpanding = rarely(t, "restored"), rarely(t, "expands")
	if rarely(t, "faulted") {
		v.Status.Robustness = v1beta2.VolumeRobustnessFaulted
	}
	if rarely(t, "migrates") {
		v.Spec.MigrationNodeID = "b"
	}
	if rarely(t, "detached") {
		detached(w)
	}
	w.Engine.Status.LookedAt, w.Engine.Spec.LookRequestedAt = anyTime(t, "polled"), anyTime(t, "poll requested")
	switch {
	case rarely(t, "volume deleted"):
		volumeDeleted(w)
	case rarely(t, "no engine"):
		w.Engine = nil
	}
}

// anyWorld is any volume, also such as should never be.
func anyWorld(t *rapid.T) World {
	w := attached("")
	for _, node := range []string{"a", "b", "c", "d"} {
		if rapid.Bool().Draw(t, "replica on "+node) {
			w.Replicas = append(w.Replicas, anyReplica(t, node))
			if rapid.Bool().Draw(t, "mapped") {
				use(node, anyMode(t))(&w)
			}
		}
		for _, of := range []change{down(node), evicted(node), drained(node), closed(node), rebuilds(node, 5), gone(node)} {
			if rapid.IntRange(0, 9).Draw(t, "trouble of "+node) == 0 {
				of(&w)
			}
		}
	}
	w.Settings.NodeSoftAntiAffinity = rapid.Bool().Draw(t, "soft")
	w.Settings.DrainPolicy = rapid.SampledFrom([]sharedsetting.DrainPolicy{sharedsetting.BlockIfContainsLastReplica,
		sharedsetting.BlockForEvictionIfContainsLastReplica, sharedsetting.BlockForEviction}).Draw(t, "policy of drains")
	anyVolume(t, &w)
	if rarely(t, "no volume") {
		w.Volume = nil
	}
	return w
}
