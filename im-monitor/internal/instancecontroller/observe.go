package instancecontroller

import (
	"context"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/instance"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/lookup"
)

// observe reads everything about an object from the caches and the inventory. The object itself is as given, from the cache or past it.
func (s *base) observe(ctx context.Context, key Key, o client.Object) (instance.World, error) {
	w := instance.World{Now: s.rt.Clock.Now()}
	w.Object, w.Status = read(o)
	if err := s.readSettings(ctx, &w); err != nil {
		return w, err
	}
	if err := s.places(ctx, key, &w); err != nil {
		return w, err
	}
	if err := s.startFacts(ctx, &w); err != nil {
		return w, err
	}
	nodeName := w.Object.NodeID
	if nodeName == "" && w.Here != nil {
		nodeName = w.Here.Node
	}
	longhornNode, err := s.nodeFacts(ctx, nodeName, &w.Node)
	if err != nil {
		return w, err
	}
	if longhornNode != nil && key.Kind == v1beta2.InstanceTypeReplica {
		w.DiskName = diskName(longhornNode, w.Object.Replica.DiskID)
	}
	if key.Kind == v1beta2.InstanceTypeEngineFrontend {
		if err := s.targets(ctx, s.rt.Client, &w); err != nil {
			return w, err
		}
	}
	if err := s.ledBy(ctx, key, &w); err != nil {
		return w, err
	}
	if err := s.mayUse(ctx, key, &w); err != nil {
		return w, err
	}
	t := s.attempts.Of(key)
	if here := w.Here; here != nil && here.Entry != nil && (isTransient(here.Entry) || !t.transientSince.IsZero()) {
		t = s.attempts.Change(key, func(t *attempt) { t.sawTransient(here.Entry, w.Now) })
	}
	w.TransientSince = t.transientSince
	w.Tried, w.NotBefore, w.Refusals, w.Refusal, w.MoveAfter = t.tried, t.NotBefore, t.refusals, t.refusal, t.moveAfter
	w.Unsettled = s.unsettled(w, t)
	return w, s.hold(ctx, key, &w)
}

// unsettled reports whether a switch-over, suspension or resumption of a frontend is in progress, or ended since the newest list began.
func (s *base) unsettled(w instance.World, t attempt) bool {
	if w.Here == nil || !t.turning && t.turned.IsZero() {
		return false
	}
	snapshot, known := s.store.Latest(w.Here.InstanceManager)
	return t.turning || !known || snapshot.Began.Before(t.turned)
}

// readSettings reads what instances are made with, but only for those that a setting concerns.
func (s *base) readSettings(ctx context.Context, w *instance.World) error {
	w.Settings = instance.Settings{EnginePrefix: s.options.EnginePrefix, HostPrefix: s.options.HostPrefix,
		ControlPath: s.options.ControlPath, Rediscovery: s.options.Rediscovery, StuckEnding: s.options.StuckEnding,
		PathLoss: s.options.PathLoss, CallPatience: s.options.PostElectionDelay}
	v2 := w.Object.DataEngine == v1beta2.DataEngineV2
	if !w.Object.Running || w.Object.Kind == v1beta2.InstanceTypeReplica || w.Object.Kind == v1beta2.InstanceTypeEngineFrontend && !v2 {
		return nil
	}
	values, err := s.settings.Current(ctx)
	if err != nil {
		return err
	}
	w.Settings.ReplicaTimeout, w.Settings.FileSyncTimeout = values.Engine.ReplicaTimeout, values.Engine.FileSyncTimeout
	w.Settings.RebuildConcurrency = values.Engine.RebuildConcurrency
	w.Settings.UblkQueueDepth, w.Settings.UblkNumberOfQueue = values.Frontend.UblkQueueDepth, values.Frontend.UblkNumberOfQueue
	w.Settings.IOQueues = values.Frontend.IOQueues
	return nil
}

// nodeFacts reads a node, as Longhorn and as Kubernetes has it.
func (s *base) nodeFacts(ctx context.Context, name string, out *instance.Node) (*v1beta2.Node, error) {
	if name == "" {
		return nil, nil
	}
	n, err := lookup.Shared(ctx, s.rt.Client, s.rt.Namespace, name, &v1beta2.Node{})
	if err != nil {
		return nil, err
	}
	kubernetes, err := lookup.Shared(ctx, s.rt.Client, "", name, &corev1.Node{})
	if err != nil {
		return nil, err
	}
	*out = instance.Node{Name: name, Down: v1beta2.IsNodeDown(n), OutOfService: outOfService(kubernetes)}
	if n != nil {
		out.Upgrading, out.Loading = n.Spec.UpgradeRequested, n.Status.LoadingDisk()
		out.OutSince = outSince(n, kubernetes)
	}
	return n, nil
}

// outSince is since when a node is down, or a person reports it; zero where no one knows.
func outSince(n *v1beta2.Node, kubernetes *corev1.Node) time.Time {
	if v1beta2.IsNodeDown(n) {
		at, _ := time.Parse(time.RFC3339, conditions.Get(n.Status.Conditions, v1beta2.NodeReady).LastTransitionTime)
		return at
	}
	if kubernetes == nil {
		return time.Time{}
	}
	for _, t := range kubernetes.Spec.Taints {
		if t.Key == corev1.TaintNodeOutOfService && t.TimeAdded != nil {
			return t.TimeAdded.Time
		}
	}
	return time.Time{}
}

// outOfService reports whether a person reports that the machine is off and stays so.
func outOfService(n *corev1.Node) bool {
	if n == nil {
		return false
	}
	for _, t := range n.Spec.Taints {
		if t.Key == corev1.TaintNodeOutOfService {
			return true
		}
	}
	return false
}

// diskName is the name of the lvstore of a disk that is loaded now; on any other one a server creates nothing.
func diskName(n *v1beta2.Node, uuid string) string {
	for _, d := range n.Status.DiskStatus {
		if uuid != "" && d.DiskUUID == uuid && conditions.IsTrue(d.Conditions, v1beta2.DiskReady) {
			return d.DiskName
		}
	}
	return ""
}

// hold finds out until when the name must be left alone: a server may still execute what the leader before asked for.
func (s *base) hold(ctx context.Context, key Key, w *instance.World) error {
	ends := s.fencingDelayEnds()
	if !ends.After(w.Now) {
		return nil
	}
	if key.Kind == v1beta2.InstanceTypeReplica && w.Object.Deleting {
		w.Held = ends
		return nil
	}
	var orphans v1beta2.OrphanList
	if err := lookup.ListShared(ctx, s.rt.Client, s.rt.Namespace, &orphans, client.MatchingFields{orphansByInstance: key.Name}); err != nil {
		return err
	}
	for i := range orphans.Items {
		if orphans.Items[i].DeletionTimestamp != nil {
			w.Held = ends
		}
	}
	return nil
}
