package snapshotcontroller

import (
	"context"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/settingcontroller"
	"drover.dev/drover/snapshot-controller/internal/compactcache"
	"drover.dev/drover/snapshot-controller/internal/setting"
	"drover.dev/drover/snapshot-controller/internal/snapshot"
	"drover.dev/drover/snapshot-controller/internal/volumecontext"
)

// watches maps the events of other objects to the snapshots that they are about.
type watches struct {
	reader    client.Reader
	namespace string
	purges    *purgeQueue
}

type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]

func (w watches) add(b *builder.Builder) *builder.Builder {
	return b.
		Watches(&v1beta2.Engine{}, handler.Funcs{CreateFunc: w.engineCame, UpdateFunc: w.engineChanged, DeleteFunc: w.engineGone}).
		Watches(&v1beta2.Volume{}, handler.Funcs{CreateFunc: w.volumeCame, UpdateFunc: w.volumeChanged, DeleteFunc: w.volumeGone}).
		Watches(&v1beta2.VolumeAttachment{}, handler.Funcs{CreateFunc: w.attachmentCame, UpdateFunc: w.attachmentChanged}).
		Watches(&v1beta2.Replica{}, handler.Funcs{CreateFunc: w.replicaCame, UpdateFunc: w.replicaChanged, DeleteFunc: w.replicaGone}).
		Watches(&v1beta2.Node{}, handler.Funcs{CreateFunc: w.nodeCame, UpdateFunc: w.nodeChanged, DeleteFunc: w.nodeGone}).
		Watches(&v1beta2.Backup{}, handler.Funcs{UpdateFunc: w.backupChanged, DeleteFunc: w.backupGone}).
		Watches(&v1beta2.Setting{}, handler.EnqueueRequestsFromMapFunc(w.setting),
			builder.WithPredicates(settingcontroller.Concerns(setting.Catalogue.Known)))
}

// ofSnapshots drops updates without news: this controller's own, and labels that people set.
func ofSnapshots() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return e.ObjectOld.GetResourceVersion() != e.ObjectNew.GetResourceVersion()
	}}
}

func (w watches) engineCame(ctx context.Context, e event.CreateEvent, q queue) {
	if !e.IsInInitialList {
		w.volume(ctx, q, byBusy, e.Object.(*v1beta2.Engine).Spec.VolumeName)
	}
}

func (w watches) engineGone(ctx context.Context, e event.DeleteEvent, q queue) {
	w.volume(ctx, q, byBusy, e.Object.(*v1beta2.Engine).Spec.VolumeName)
}

// engineChanged: of the list those entries that changed; what else happens to the engine matters to snapshots that are
// under way; a list that can be believed again is news to all.
func (w watches) engineChanged(ctx context.Context, e event.UpdateEvent, q queue) {
	before, after := e.ObjectOld.(*v1beta2.Engine), e.ObjectNew.(*v1beta2.Engine)
	was, is := engineFacts(before), engineFacts(after)
	if !was.known && is.known || was.active != is.active || was.uid != is.uid {
		w.volume(ctx, q, volumecontext.ByVolume, after.Spec.VolumeName)
		return
	}
	names := changedInfos(compactcache.List(before), compactcache.List(after))
	if was != is || len(names) > 0 {
		names = append(names, w.names(ctx, byBusy, after.Spec.VolumeName)...)
	}
	// Each once: one that is asked for twice is decided on again before what was written of it is seen.
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		q.Add(w.request(name))
	}
}

type ofEngines struct {
	uid                       types.UID
	state, node               string
	known, active, rebuilding bool
}

func engineFacts(e *v1beta2.Engine) ofEngines {
	running := e.Status.CurrentState == v1beta2.InstanceStateRunning
	_, whole := compactcache.List(e)[snapshot.VolumeHead]
	return ofEngines{
		uid: e.UID, state: e.Status.CurrentState, node: e.Spec.NodeID, known: running && whole, active: e.Spec.Active,
		rebuilding: len(e.Status.ReplicaModeMap) > 0,
	}
}

// changedInfos are the names whose entries differ, and those that entries begin or cease to name as their parents.
func changedInfos(before, after map[string]v1beta2.SnapshotInfo) []string {
	var out []string
	for name, is := range after {
		was, ok := before[name]
		if !ok || !sameInfo(was, is) {
			out = append(out, name)
		}
		if !ok || was.Parent != is.Parent {
			out = append(out, is.Parent, was.Parent)
		}
	}
	for name, was := range before {
		if _, ok := after[name]; !ok {
			out = append(out, name, was.Parent)
		}
	}
	return slices.DeleteFunc(out, func(name string) bool { return name == "" || name == snapshot.VolumeHead })
}

func sameInfo(a, b v1beta2.SnapshotInfo) bool {
	return a.Parent == b.Parent && a.Removed == b.Removed && a.Size == b.Size && a.Created == b.Created &&
		a.UserCreated == b.UserCreated && maps.Equal(a.Children, b.Children) && maps.Equal(a.Labels, b.Labels)
}

func (w watches) volumeCame(ctx context.Context, e event.CreateEvent, q queue) {
	v := e.Object.(*v1beta2.Volume)
	if !e.IsInInitialList {
		w.volume(ctx, q, volumecontext.ByVolume, v.Name)
	}
	w.source(q, v)
}

func (w watches) volumeGone(ctx context.Context, e event.DeleteEvent, q queue) {
	w.volume(ctx, q, volumecontext.ByVolume, e.Object.GetName())
	w.source(q, e.Object.(*v1beta2.Volume))
}

func (w watches) volumeChanged(ctx context.Context, e event.UpdateEvent, q queue) {
	before, after := e.ObjectOld.(*v1beta2.Volume), e.ObjectNew.(*v1beta2.Volume)
	if snapshot.Shared(before) != snapshot.Shared(after) {
		w.source(q, before)
		w.source(q, after)
	}
	was, is := volumeFacts(before), volumeFacts(after)
	switch {
	case was.uid != is.uid || was.going != is.going:
		w.volume(ctx, q, volumecontext.ByVolume, e.ObjectNew.GetName())
	case was != is:
		w.volume(ctx, q, byBusy, e.ObjectNew.GetName())
	}
}

type ofVolumes struct {
	uid                       types.UID
	generation                int64
	state, robust, node, move string
	going                     bool
}

// volumeFacts: the generation stands for the spec.
func volumeFacts(v *v1beta2.Volume) ofVolumes {
	return ofVolumes{
		uid: v.UID, generation: v.Generation, state: v.Status.State, robust: v.Status.Robustness, node: v.Status.CurrentNodeID,
		move: v.Status.CurrentMigrationNodeID, going: v.DeletionTimestamp != nil,
	}
}

// source enqueues the snapshot whose data a volume needs.
func (w watches) source(q queue, v *v1beta2.Volume) {
	if _, shared, ok := strings.Cut(snapshot.Shared(v), "/"); ok {
		q.Add(w.request(shared))
	}
}

// setting enqueues those whom the setting lets continue, or holds back.
func (w watches) setting(ctx context.Context, obj client.Object) []reconcile.Request {
	var names []string
	switch obj.GetName() {
	case setting.PurgesPerNode:
		names = w.purges.all()
	case setting.DisablePurge:
		for _, reason := range []string{v1beta2.ReasonPurgeDisabled, v1beta2.ReasonRequested, v1beta2.ReasonWaitingForAttach,
			v1beta2.ReasonPurgeLimited} {
			names = append(names, w.names(ctx, byReason, reason)...)
		}
	case setting.SnapshotMaxCount:
		names = w.names(ctx, byReason, v1beta2.ReasonLimitReached)
	}
	out := make([]reconcile.Request, 0, len(names))
	for _, name := range names {
		out = append(out, w.request(name))
	}
	return out
}

func (w watches) request(name string) reconcile.Request {
	return reconcile.Request{NamespacedName: types.NamespacedName{Namespace: w.namespace, Name: name}}
}

// volume enqueues the volume's snapshots that an index picks.
func (w watches) volume(ctx context.Context, q queue, index, name string) {
	for _, s := range w.names(ctx, index, name) {
		q.Add(w.request(s))
	}
}

func (w watches) names(ctx context.Context, index, key string) []string {
	var list v1beta2.SnapshotList
	err := w.reader.List(ctx, &list, client.InNamespace(w.namespace), client.MatchingFields{index: key}, client.UnsafeDisableDeepCopy)
	if err != nil {
		// A list from a running cache fails only while the process stops.
		log.FromContext(ctx).Error(err, "listing from the cache")
	}
	out := make([]string, 0, len(list.Items))
	for i := range list.Items {
		out = append(out, list.Items[i].Name)
	}
	return out
}
