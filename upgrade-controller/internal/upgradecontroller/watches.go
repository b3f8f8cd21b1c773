package upgradecontroller

import (
	"context"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/upgrade/cluster"
	"drover.dev/drover/upgrade-controller/internal/nodeupgrade"
	"drover.dev/drover/upgrade-controller/internal/setting"
)

// watches maps the events of other objects to the upgrades that they are about. Without an upgrade under way an event of
// a volume costs a list of no upgrades.
type watches struct{ kube.Mapper }

func (w watches) addNode(b *builder.Builder) *builder.Builder {
	active, about := w.To(w.activeNodes), w.To(w.nodesAbout)
	return b.
		Watches(&v1beta2.DataEngineUpgradeManager{}, w.To(w.nodesOfManager), changed(managerFacts)).
		Watches(&v1beta2.NodeDataEngineUpgrade{}, w.To(w.activeNodes), changed(upgradeFacts)).
		Watches(&v1beta2.Node{}, active, changed(nodeFacts)).
		Watches(&v1beta2.InstanceManager{}, active, changed(instanceManagerFacts)).
		Watches(&v1beta2.Volume{}, about, changed(volumeFacts)).
		Watches(&v1beta2.Engine{}, about, changed(engineFacts)).
		Watches(&v1beta2.Replica{}, about, changed(replicaFacts)).
		Watches(&v1beta2.Snapshot{}, about, changed(snapshotFacts)).
		Watches(&v1beta2.Backup{}, about, changed(backupFacts))
}

func (w watches) addPlan(b *builder.Builder) *builder.Builder {
	return b.
		Watches(&v1beta2.DataEngineUpgradeManager{}, w.To(w.unfinishedPlans), changed(managerFacts)).
		Watches(&v1beta2.NodeDataEngineUpgrade{}, w.To(w.unfinishedPlans), changed(upgradeFacts)).
		Watches(&v1beta2.InstanceManager{}, w.To(w.checkingPlans), changed(instanceManagerFacts)).
		Watches(&v1beta2.Volume{}, w.To(w.checkingPlans), changed(volumeFacts)).
		Watches(&v1beta2.Engine{}, w.To(w.checkingPlans), changed(engineFacts)).
		Watches(&v1beta2.Replica{}, w.To(w.checkingPlans), changed(replicaFacts)).
		Watches(&v1beta2.Snapshot{}, w.To(w.checkingPlans), changed(snapshotFacts)).
		Watches(&v1beta2.Backup{}, w.To(w.checkingPlans), changed(backupFacts)).
		Watches(&corev1.Pod{}, w.To(w.checkingPlans)).
		Watches(&v1beta2.Setting{}, w.To(w.ofSetting))
}

// activeNodes are the upgrades of nodes that have not ended, or that are being deleted.
func (w watches) activeNodes(ctx context.Context, _ client.Object) []string {
	return w.nodes(ctx, func(u *v1beta2.NodeDataEngineUpgrade) bool {
		return !nodeupgrade.Ended(u.Status.State) || u.DeletionTimestamp != nil
	})
}

// nodesAbout are the active upgrades that the object is about, and those that have ended and left a snapshot whose data it shares.
func (w watches) nodesAbout(ctx context.Context, obj client.Object) []string {
	return w.nodes(ctx, func(u *v1beta2.NodeDataEngineUpgrade) bool {
		active := !nodeupgrade.Ended(u.Status.State) || u.DeletionTimestamp != nil
		return active && concerns(u, obj) || clones(u, obj)
	})
}

// clones reports whether the object is a volume that shares the data of a snapshot of the upgrade, or copies it.
func clones(u *v1beta2.NodeDataEngineUpgrade, obj client.Object) bool {
	v, is := obj.(*v1beta2.Volume)
	if !is {
		return false
	}
	volume, snapshot, shares := strings.Cut(v1beta2.SharedSnapshot(v), "/")
	return shares && u.Status.Volumes[volume].Snapshot == snapshot
}

// concerns reports whether a volume, or a part of one, matters to the upgrade: the node carries it, or the status names it. An
// upgrade that has not begun names none yet, and waits for any of them.
func concerns(u *v1beta2.NodeDataEngineUpgrade, obj client.Object) bool {
	if u.Status.State == "" || u.Status.State == v1beta2.UpgradeStateUndefined {
		return true
	}
	node, volume := "", ""
	switch o := obj.(type) {
	case *v1beta2.Volume:
		node, volume = o.Spec.NodeID, o.Name
		_, filled := u.Status.Volumes[o.Status.CloneStatus.SourceVolume]
		if filled || o.Status.CurrentNodeID == u.Spec.NodeID {
			return true
		}
	case *v1beta2.Engine:
		node, volume = o.Spec.NodeID, o.Spec.VolumeName
	case *v1beta2.Replica:
		node, volume = o.Spec.NodeID, o.Spec.VolumeName
	case *v1beta2.Snapshot:
		volume = o.Spec.Volume
	case *v1beta2.Backup:
		volume = cluster.BackedUp(o)
	}
	_, named := u.Status.Volumes[volume]
	return named || node == u.Spec.NodeID
}

func (w watches) nodesOfManager(ctx context.Context, obj client.Object) []string {
	return w.nodes(ctx, func(u *v1beta2.NodeDataEngineUpgrade) bool { return u.Spec.DataEngineUpgradeManager == obj.GetName() })
}

func (w watches) nodes(ctx context.Context, is func(*v1beta2.NodeDataEngineUpgrade) bool) []string {
	return names(ctx, w, &v1beta2.NodeDataEngineUpgradeList{}, is)
}

func (w watches) unfinishedPlans(ctx context.Context, _ client.Object) []string {
	return w.plans(ctx, func(m *v1beta2.DataEngineUpgradeManager) bool {
		ended := m.Status.State == v1beta2.UpgradeStateCompleted ||
			m.Status.State == v1beta2.UpgradeStateError && m.Status.ObservedGeneration == m.Generation
		return !ended || m.DeletionTimestamp != nil
	})
}

// checkingPlans are those that wait for what is known of their image, and those whose check pods are being deleted.
func (w watches) checkingPlans(ctx context.Context, _ client.Object) []string {
	return w.plans(ctx, func(m *v1beta2.DataEngineUpgradeManager) bool {
		return m.Status.State == v1beta2.UpgradeStateInitializing
	})
}

func (w watches) ofSetting(ctx context.Context, obj client.Object) []string {
	if obj.GetName() != setting.DefaultInstanceManagerImage {
		return nil
	}
	// also those that have ended: their message is that they do not begin again
	return w.plans(ctx, func(*v1beta2.DataEngineUpgradeManager) bool { return true })
}

func (w watches) plans(ctx context.Context, is func(*v1beta2.DataEngineUpgradeManager) bool) []string {
	return names(ctx, w, &v1beta2.DataEngineUpgradeManagerList{}, is)
}

// names are the names of the objects in the cache of which is reports true.
func names[T client.Object](ctx context.Context, w watches, list client.ObjectList, is func(T) bool) []string {
	return w.NamesBy(ctx, func(obj client.Object) string {
		if is(obj.(T)) {
			return obj.GetName()
		}
		return ""
	}, list)
}

// changed lets an update pass if something changed that a core reads.
func changed[T client.Object](facts func(T) []any) builder.WatchesOption {
	return builder.WithPredicates(kube.OnDeepChange(facts))
}

func managerFacts(m *v1beta2.DataEngineUpgradeManager) []any { return []any{m.Spec, m.Status.State} }

func upgradeFacts(u *v1beta2.NodeDataEngineUpgrade) []any { return []any{u.Status} }

func nodeFacts(n *v1beta2.Node) []any {
	return []any{n.Spec.UpgradeRequested, cluster.Node{Object: n}.KeptFree(), v1beta2.IsNodeDown(n),
		cluster.Node{Object: n}.DiskNotReady(""), reporters(n)}
}

// reporters are the instance managers that reported the node's disks.
func reporters(n *v1beta2.Node) map[string]string {
	out := map[string]string{}
	for key, d := range n.Status.DiskStatus {
		out[key] = d.InstanceManagerName
	}
	return out
}

func instanceManagerFacts(m *v1beta2.InstanceManager) []any {
	return []any{m.Status.CurrentState, m.Status.APIVersion, m.Status.Conditions}
}

func volumeFacts(v *v1beta2.Volume) []any {
	s := v.Status
	return []any{v.Spec.NodeID, v.Spec.TargetNodeID, v.Spec.MigrationNodeID, v.Spec.Size, s.State, s.Robustness, s.CurrentNodeID,
		s.CurrentTargetNodeID, s.CurrentMigrationNodeID, s.ExpansionRequired, s.RestoreRequired, s.CloneStatus.State}
}

func engineFacts(e *v1beta2.Engine) []any {
	s := e.Status
	return []any{e.Spec.Active, e.Spec.NodeID, e.Spec.DesireState, e.Spec.ReplicaAddressMap, e.Spec.LookRequestedAt, e.Spec.VolumeSize,
		s.CurrentState, s.CurrentReplicaAddressMap, s.ReplicaModeMap, s.LookedAt, s.IsExpanding, s.RebuildStatus, s.RestoreStatus,
		s.CloneStatus,
		v1beta2.IsPurging(s.PurgeStatus), len(s.Snapshots), s.SnapshotMaxCount, e.Spec.SnapshotMaxCount}
}

func replicaFacts(r *v1beta2.Replica) []any {
	return []any{r.Spec.NodeID, r.Spec.DesireState, r.Spec.FailedAt, r.Status.CurrentState}
}

func snapshotFacts(s *v1beta2.Snapshot) []any {
	return []any{s.Status.ReadyToUse, s.Status.Error, cluster.Removing(s)}
}

func backupFacts(b *v1beta2.Backup) []any { return []any{v1beta2.IsBackupBegun(b)} }
