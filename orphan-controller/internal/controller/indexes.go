package controller

import (
	"context"
	"fmt"
	"strconv"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/orphan-controller/internal/orphan"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// The indexes. Each maps an event to the orphans that it is about, or a question of the core to its answer,
// without reading anything else.
const (
	// Orphans by what they name.
	byNode            = "node"
	byInstanceManager = "instance-manager"
	byInstance        = "instance"
	byVolume          = "volume"
	// byBurst is node and creation time in steps of the flood's window.
	byBurst = "burst"
	// byInFlight is the node of orphans whose deletion by policy is approved, not finished, and has not failed.
	byInFlight = "in-flight"
	// byWaiting is the node of orphans that wait for what other orphans of the node do.
	byWaiting = "waiting"
	// byCopies is the one key of orphans whose policy depends on the health of other replicas.
	byCopies = "copies"
	// Persistent volumes by volume; engines and replicas by byVolume, instance managers by byNode.
	byHandle = "handle"
)

const copiesMatter = "yes"

// driverName is the CSI driver whose volume handles are names of volumes.
const driverName = "driver.longhorn.io"

func addIndexes(ctx context.Context, indexer client.FieldIndexer, window time.Duration) error {
	orphans := map[string]func(*v1beta2.Orphan) string{
		byNode:            func(o *v1beta2.Orphan) string { return o.Spec.NodeID },
		byInstanceManager: func(o *v1beta2.Orphan) string { return o.Spec.Parameters[v1beta2.OrphanParameterInstanceManager] },
		byInstance:        orphan.NameOf,
		byVolume:          orphan.VolumeOfOrphan,
		byBurst: func(o *v1beta2.Orphan) string {
			return burstKey(o.Spec.NodeID, o.CreationTimestamp.Time, window, 0)
		},
		byInFlight: nodeIf(inFlight),
		byWaiting:  nodeIf(waiting),
		byCopies:   copiesKey,
	}
	for name, key := range orphans {
		extract := func(obj client.Object) []string { return keys(key(obj.(*v1beta2.Orphan))) }
		if err := addIndex(ctx, indexer, &v1beta2.Orphan{}, name, extract); err != nil {
			return err
		}
	}
	for _, obj := range []client.Object{&v1beta2.Engine{}, &v1beta2.Replica{}} {
		if err := addIndex(ctx, indexer, obj, byVolume,
			func(obj client.Object) []string { return keys(v1beta2.VolumeNameOf(obj)) }); err != nil {
			return err
		}
	}
	if err := addIndex(ctx, indexer, &v1beta2.InstanceManager{}, byNode, func(obj client.Object) []string {
		return keys(obj.(*v1beta2.InstanceManager).Spec.NodeID)
	}); err != nil {
		return err
	}
	return addIndex(ctx, indexer, &corev1.PersistentVolume{}, byHandle, func(obj client.Object) []string {
		return keys(handleOf(obj.(*corev1.PersistentVolume)))
	})
}

func addIndex(ctx context.Context, indexer client.FieldIndexer, obj client.Object, name string, extract client.IndexerFunc) error {
	if err := indexer.IndexField(ctx, obj, name, extract); err != nil {
		return fmt.Errorf("indexing %T by %s: %w", obj, name, err)
	}
	return nil
}

func keys(key string) []string {
	if key == "" {
		return nil
	}
	return []string{key}
}

func nodeIf(is func(*v1beta2.Orphan) bool) func(*v1beta2.Orphan) string {
	return func(o *v1beta2.Orphan) string {
		if is(o) {
			return o.Spec.NodeID
		}
		return ""
	}
}

// burstKey names the window of a creation time, or the one that lies offset windows later.
func burstKey(node string, created time.Time, window time.Duration, offset int64) string {
	return node + "/" + strconv.FormatInt(created.UnixNano()/int64(window)+offset, 10)
}

// inFlight excludes an orphan that waits after a failed attempt: it may wait for ever, and must not block the others.
func inFlight(o *v1beta2.Orphan) bool {
	list := o.Status.Conditions
	return conditions.IsTrue(list, v1beta2.OrphanDeletionReason) && conditions.IsTrue(list, v1beta2.OrphanCleanupApproved) &&
		!conditions.IsTrue(list, v1beta2.OrphanWithdrawn) && !conditions.IsFalse(list, v1beta2.OrphanInstanceState) &&
		!conditions.IsTrue(list, v1beta2.OrphanCleanupFailed)
}

func waiting(o *v1beta2.Orphan) bool {
	switch reason := conditions.Reason(o.Status.Conditions, v1beta2.OrphanCleanupApproved); reason {
	case v1beta2.ReasonRateLimited, v1beta2.ReasonFlood, v1beta2.ReasonAcknowledged:
		return true
	}
	return false
}

// copiesKey picks the orphans that are held as a last copy, and those that policy is deleting and must hold once they
// become one.
func copiesKey(o *v1beta2.Orphan) string {
	list := o.Status.Conditions
	if o.Spec.OrphanType != v1beta2.OrphanTypeEngineInstance && orphan.VolumeOfOrphan(o) != "" &&
		(conditions.Reason(list, v1beta2.OrphanCleanupApproved) == v1beta2.ReasonLastCopy ||
			conditions.IsTrue(list, v1beta2.OrphanDeletionReason)) {
		return copiesMatter
	}
	return ""
}

func handleOf(pv *corev1.PersistentVolume) string {
	if csi := pv.Spec.CSI; csi != nil && csi.Driver == driverName {
		return csi.VolumeHandle
	}
	return ""
}

func floodHeld(o *v1beta2.Orphan) bool {
	return conditions.Reason(o.Status.Conditions, v1beta2.OrphanCleanupApproved) == v1beta2.ReasonFlood
}
