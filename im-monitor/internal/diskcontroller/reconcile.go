package diskcontroller

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/disk"
	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/events"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/mergepatch"
	"drover.dev/drover/shared/retry"
	"drover.dev/drover/shared/status"
)

// Reconcile reconciles the v2 disks of one node. What leads to a call is decided again on the node uncached, and written before the
// call.
func (s *reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var n v1beta2.Node
	if err := s.rt.Client.Get(ctx, request.NamespacedName, &n); err != nil {
		s.memory.forget(request.Name)
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !hasBlockDisks(&n) {
		return ctrl.Result{}, nil
	}
	at, none, err := s.serverOf(ctx, n.Name)
	if errors.Is(err, errNotYet) {
		return ctrl.Result{RequeueAfter: disk.SoonPause}, nil
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	w, err := s.world(ctx, nil, &n)
	if err != nil {
		return ctrl.Result{}, err
	}
	w.NoManager = none
	if at != nil {
		w.Server = s.hear(ctx, at, &n)
	}
	v := disk.Decide(w)
	if len(v.Calls) > 0 {
		return s.act(ctx, request, at, w.Server)
	}
	if err := s.write(ctx, &n, v.Changes); err != nil {
		return behind(err)
	}
	s.list(ctx, at, &n, v.List)
	if v.Relist {
		if _, err := s.known.Fresh(ctx, at.name); err != nil {
			s.rt.Log.V(1).Info("no whole list after a disk was loaded", "node", n.Name, "instanceManager", at.name, "reason", err.Error())
		}
	}
	return ctrl.Result{RequeueAfter: s.again(n.Name, at, v.After)}, nil
}

func hasBlockDisks(n *v1beta2.Node) bool {
	for _, d := range n.Spec.Disks {
		if d.DiskType == v1beta2.DiskTypeBlock {
			return true
		}
	}
	for _, d := range n.Status.DiskStatus {
		if d.DiskType == v1beta2.DiskTypeBlock {
			return true
		}
	}
	return false
}

// hear is what the server reports of its disks: asked now, or what it reported when it was asked last and need not be asked again.
func (s *reconciler) hear(ctx context.Context, at *server, n *v1beta2.Node) *disk.Server {
	now := s.rt.Clock.Now()
	known := s.memory.of(n.Name)
	if known.run != at.run || known.generation != n.Generation || !now.Before(known.next) {
		known.asked = s.rt.Clock.Now()
		known.answers = s.question(ctx, at, n)
		if known.run != at.run {
			known.lists = map[string]listing{}
		}
		known.run, known.generation = at.run, n.Generation
		known.next = s.rt.Clock.Now().Add(retry.Jitter(s.Period, s.random))
	}
	out := &disk.Server{Name: at.name, Run: at.run, Answers: known.answers, InUse: at.inUse(), Contents: map[string][]string{}}
	if at.latest != nil {
		out.Listed = at.latest.Began
	}
	for key, l := range known.lists {
		if l.complete && l.uuid == known.answers[key].UUID && l.at.Before(known.asked) {
			out.Contents[key] = l.names
		}
	}
	return out
}

// again is when to decide again. Before the next poll the server is asked again only where the decision waits for it.
func (s *reconciler) again(node string, at *server, after time.Duration) time.Duration {
	if at == nil {
		return after
	}
	known := s.memory.of(node)
	now := s.rt.Clock.Now()
	if after > 0 && now.Add(after).Before(known.next) {
		known.next = now.Add(after)
	}
	return kube.Until(known.next, now)
}

// behind decides again where the node has changed since it was read.
func behind(err error) (ctrl.Result, error) {
	if status.IsConflict(err) {
		return ctrl.Result{RequeueAfter: callPause}, nil
	}
	return ctrl.Result{}, client.IgnoreNotFound(err)
}

// write makes the changes true, on the version that they were decided on: an attempt that was recorded since is never overwritten.
func (s *reconciler) write(ctx context.Context, n *v1beta2.Node, changes map[string]*v1beta2.DiskStatus) error {
	if len(changes) == 0 {
		return nil
	}
	if err := status.MergeStatus(ctx, s.rt.Client, n, map[string]any{"diskStatus": fields(n.Status.DiskStatus, changes)},
		status.AtVersion()); err != nil {
		return err
	}
	s.rt.Log.Info("disks changed", "node", n.Name, "changed", len(changes))
	return nil
}

// act decides on the node and its replicas uncached, records the attempts bound to that version, and makes the calls.
func (s *reconciler) act(ctx context.Context, request ctrl.Request, at *server, heard *disk.Server) (ctrl.Result, error) {
	var n v1beta2.Node
	if err := s.rt.Uncached.Get(ctx, request.NamespacedName, &n); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	w, err := s.world(ctx, s.readerFor(&n), &n)
	if err != nil {
		return ctrl.Result{}, err
	}
	w.Server = heard
	v := disk.Decide(w)
	pause := callPause
	for _, call := range v.Calls {
		if call.Op != disk.OpDelete {
			continue
		}
		if err := s.call(ctx, at, n.Name, call); err != nil { // what is left behind is reported; the entry goes all the same
			pause = max(pause, disk.LatePause)
			s.reportKept(&n, at, call, err)
		}
	}
	if err := s.write(ctx, &n, v.Changes); err != nil {
		return behind(err)
	}
	if s.rt.Observe {
		return ctrl.Result{RequeueAfter: s.Period}, nil
	}
	for _, call := range v.Calls {
		if call.Op != disk.OpDelete && s.call(ctx, at, n.Name, call) != nil {
			pause = max(pause, disk.SoonPause)
		}
	}
	s.memory.of(n.Name).next = s.rt.Clock.Now() // what the server reports now decides
	return ctrl.Result{RequeueAfter: pause}, nil
}

// reportKept reports of a disk whose server did not let it go.
func (s *reconciler) reportKept(n *v1beta2.Node, at *server, call disk.Call, err error) {
	events.Emit(s.rt.Recorder, n, events.Event{Type: corev1.EventTypeWarning, Reason: "DiskNotReleased", Action: "ReleaseDisk",
		Note: fmt.Sprintf(
			"DiskDelete of disk %s at %s on node %s failed, and instance manager %s may still use the device: %s. Leave the device in "+
				"place until that pod is restarted, which it may be when no engine runs on the node; then nothing uses "+
				"it.", call.Key, call.Path, n.Name, at.name, err)})
}

// readerFor reads every Replica uncached where a device may be formatted, or released; nil is the cache.
func (s *reconciler) readerFor(n *v1beta2.Node) client.Reader {
	for key, spec := range n.Spec.Disks {
		if spec.Initialize == v1beta2.InitializeNew && n.Status.DiskStatus[key].DiskUUID == "" {
			return s.rt.Uncached
		}
	}
	for key, recorded := range n.Status.DiskStatus {
		if recorded.DiskType == v1beta2.DiskTypeBlock && n.Spec.Disks[key].DiskType != v1beta2.DiskTypeBlock {
			return s.rt.Uncached
		}
	}
	return nil
}

// callPause is how long after a call the server is asked what became of it.
const callPause = 100 * time.Millisecond

// call makes one call. Its answer decides nothing: DiskGet does.
func (s *reconciler) call(ctx context.Context, at *server, node string, c disk.Call) error {
	if s.rt.Observe {
		s.rt.Log.Info("would call", "op", c.Op, "node", node, "disk", c.Key, "uuid", c.UUID)
		return nil
	}
	ref := imclient.DiskRef{DiskQuery: imclient.DiskQuery{Name: c.Key, Path: c.Path, Driver: c.Driver}, UUID: c.UUID}
	var err error
	switch c.Op {
	case disk.OpDelete:
		err = s.service.DeleteDisk(ctx, at.address, ref)
	case disk.OpReload:
		gone := ref
		gone.Driver = c.DeleteDriver
		if err = s.service.DeleteDisk(ctx, at.address, gone); err == nil {
			_, err = s.service.CreateDisk(ctx, at.address, ref)
		}
	default:
		_, err = s.service.CreateDisk(ctx, at.address, ref)
	}
	if err != nil {
		s.rt.Log.Error(err, "a call about a disk failed", "op", c.Op, "node", node, "disk", c.Key, "uuid", c.UUID)
		return err
	}
	s.rt.Log.Info("called", "op", c.Op, "node", node, "disk", c.Key, "uuid", c.UUID, "path", c.Path, "driver", c.Driver)
	return nil
}

// list reads the replicas of disks that were loaded for the first time: twice, a gap apart.
func (s *reconciler) list(ctx context.Context, at *server, n *v1beta2.Node, keys []string) {
	known := s.memory.of(n.Name)
	for _, key := range keys {
		spec, answer := n.Spec.Disks[key], known.answers[key]
		before := known.lists[key]
		now, quiet := s.rt.Clock.Now(), s.known.QuietFrom(at.name)
		if before.uuid != answer.UUID || before.at.Before(quiet) {
			before = listing{uuid: answer.UUID}
		}
		if now.Before(quiet) {
			known.lists[key], known.next = before, quiet
			continue
		}
		if !before.at.IsZero() && now.Sub(before.at) < s.Gap {
			known.next = before.at.Add(s.Gap)
			continue
		}
		found, err := s.service.DiskReplicas(ctx, at.address, imclient.DiskRef{
			DiskQuery: imclient.DiskQuery{Name: key, Path: spec.Path, Driver: answer.Driver}, UUID: answer.UUID})
		if err != nil {
			s.rt.Log.Error(err, "listing the replicas of a disk failed", "node", n.Name, "disk", key)
			continue
		}
		known.lists[key] = before.with(found, now)
		known.next = s.rt.Clock.Now().Add(s.Gap)
	}
}

// fields names what is written of each disk and nothing else; null removes.
func fields(before map[string]v1beta2.DiskStatus, changes map[string]*v1beta2.DiskStatus) map[string]any {
	out := map[string]any{}
	for name, d := range changes {
		if d == nil {
			out[name] = nil
			continue
		}
		entry := map[string]any{
			"diskName": d.DiskName, "diskPath": d.DiskPath, "diskType": d.DiskType, "diskDriver": d.DiskDriver, "diskUUID": d.DiskUUID,
			"instanceManagerName": d.InstanceManagerName, "storageMaximum": d.StorageMaximum, "storageAvailable": d.StorageAvailable,
			"storageScheduled": d.StorageScheduled, "conditions": status.ConditionsField(d.Conditions), "load": loadField(d.Load),
			"scheduledReplica": mergepatch.OfMap(before[name].ScheduledReplica, d.ScheduledReplica),
		}
		if d.AcknowledgedAt != before[name].AcknowledgedAt {
			entry["acknowledgedAt"], entry["acknowledgedReplicas"] = d.AcknowledgedAt, d.AcknowledgedReplicas
		}
		out[name] = entry
	}
	return out
}

// loadField replaces an attempt as a whole: what the new one lacks is removed.
func loadField(l *v1beta2.DiskLoad) any {
	if l == nil {
		return nil
	}
	optional := func(text string) any {
		if text == "" {
			return nil
		}
		return text
	}
	return map[string]any{"server": l.Server, "state": l.State, "uuid": optional(l.UUID), "requestedAt": l.RequestedAt,
		"attempts": l.Attempts,
		"readyAt":  optional(l.ReadyAt)}
}
