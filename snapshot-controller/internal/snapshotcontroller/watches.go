package snapshotcontroller

import (
	"context"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/settingcontroller"
	"drover.dev/drover/snapshot-controller/internal/compactcache"
	"drover.dev/drover/snapshot-controller/internal/setting"
	"drover.dev/drover/snapshot-controller/internal/snapshot"
)

// watches maps the events of other objects to the snapshots that they are about.
type watches struct {
	kube.Mapper
	purges *purgeQueue
}

func (w watches) add(b *builder.Builder) *builder.Builder {
	return b.
		Watches(&v1beta2.Snapshot{}, handler.Funcs{UpdateFunc: w.snapshotChanged, DeleteFunc: w.snapshotGone}).
		Watches(&v1beta2.Engine{}, handler.Funcs{CreateFunc: w.engineCame, UpdateFunc: w.engineChanged, DeleteFunc: w.engineGone}).
		Watches(&v1beta2.Volume{}, handler.Funcs{CreateFunc: w.volumeCame, UpdateFunc: w.volumeChanged, DeleteFunc: w.volumeGone}).
		Watches(&v1beta2.VolumeAttachment{}, handler.Funcs{CreateFunc: w.attachmentCame, UpdateFunc: w.attachmentChanged}).
		Watches(&v1beta2.Replica{}, handler.Funcs{CreateFunc: w.replicaCame, UpdateFunc: w.replicaChanged, DeleteFunc: w.replicaGone}).
		Watches(&v1beta2.Node{}, handler.Funcs{CreateFunc: w.nodeCame, UpdateFunc: w.nodeChanged, DeleteFunc: w.nodeGone}).
		Watches(&v1beta2.Backup{}, handler.Funcs{UpdateFunc: w.backupChanged, DeleteFunc: w.backupGone}).
		Watches(&v1beta2.Setting{}, w.To(w.setting),
			builder.WithPredicates(settingcontroller.Concerns(setting.Catalogue.Known)))
}

// snapshotChanged: what is being deleted may wait for what builds on it.
func (w watches) snapshotChanged(ctx context.Context, e event.UpdateEvent, q kube.Queue) {
	before, after := e.ObjectOld.(*v1beta2.Snapshot).Status.Parent, e.ObjectNew.(*v1beta2.Snapshot).Status.Parent
	if before != after {
		w.leaving(ctx, q, before, after)
	}
}

func (w watches) snapshotGone(ctx context.Context, e event.DeleteEvent, q kube.Queue) {
	w.leaving(ctx, q, e.Object.(*v1beta2.Snapshot).Status.Parent)
}

// leaving enqueues those of the snapshots that are being deleted.
func (w watches) leaving(ctx context.Context, q kube.Queue, names ...string) {
	for _, name := range names {
		if name == "" {
			continue
		}
		s := &v1beta2.Snapshot{}
		if err := w.Reader.Get(ctx, client.ObjectKey{Namespace: w.Namespace, Name: name}, s); err == nil && s.DeletionTimestamp != nil {
			w.Enqueue(q, name)
		}
	}
}

func (w watches) engineCame(ctx context.Context, e event.CreateEvent, q kube.Queue) {
	if !e.IsInInitialList {
		w.volume(ctx, q, byBusy, e.Object.(*v1beta2.Engine).Spec.VolumeName)
	}
}

func (w watches) engineGone(ctx context.Context, e event.DeleteEvent, q kube.Queue) {
	w.volume(ctx, q, byBusy, e.Object.(*v1beta2.Engine).Spec.VolumeName)
}

// engineChanged: of the list those entries that changed; what else happens to the engine matters to snapshots that are
// under way; a list that can be believed again is news to all.
func (w watches) engineChanged(ctx context.Context, e event.UpdateEvent, q kube.Queue) {
	before, after := e.ObjectOld.(*v1beta2.Engine), e.ObjectNew.(*v1beta2.Engine)
	was, is := engineFacts(before), engineFacts(after)
	if !was.known && is.known || was.active != is.active || was.uid != is.uid {
		w.volume(ctx, q, kube.FieldVolume, after.Spec.VolumeName)
		return
	}
	names := changedInfos(compactcache.List(before), compactcache.List(after))
	if was != is || len(names) > 0 || headSize(after) < headSize(before) { // less data leaves more of the volume's limit
		names = append(names, w.names(ctx, byBusy, after.Spec.VolumeName)...)
	}
	// Each once: one that is asked for twice is decided on again before what was written of it is seen.
	slices.Sort(names)
	w.Enqueue(q, slices.Compact(names)...)
}

// headSize is in bytes; zero where it is unknown.
func headSize(e *v1beta2.Engine) int64 {
	return v1beta2.BytesOf(compactcache.List(e)[v1beta2.VolumeHead].Size)
}

type ofEngines struct {
	uid                       types.UID
	state, node               string
	known, active, rebuilding bool
}

func engineFacts(e *v1beta2.Engine) ofEngines {
	running := e.Status.CurrentState == v1beta2.InstanceStateRunning
	_, whole := compactcache.List(e)[v1beta2.VolumeHead]
	return ofEngines{
		uid: e.UID, state: e.Status.CurrentState, node: e.Spec.NodeID, known: running && whole, active: e.Spec.Active,
		rebuilding: len(e.Status.ReplicaModeMap) > 0, // the cache keeps only replicas that are being filled
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
	return slices.DeleteFunc(out, func(name string) bool { return name == "" || name == v1beta2.VolumeHead })
}

func sameInfo(a, b v1beta2.SnapshotInfo) bool {
	return a.Parent == b.Parent && a.Removed == b.Removed && a.Size == b.Size && a.Created == b.Created &&
		a.UserCreated == b.UserCreated && maps.Equal(a.Children, b.Children) && maps.Equal(a.Labels, b.Labels)
}

func (w watches) volumeCame(ctx context.Context, e event.CreateEvent, q kube.Queue) {
	v := e.Object.(*v1beta2.Volume)
	if !e.IsInInitialList {
		w.volume(ctx, q, kube.FieldVolume, v.Name)
	}
	w.source(q, v)
}

func (w watches) volumeGone(ctx context.Context, e event.DeleteEvent, q kube.Queue) {
	w.volume(ctx, q, kube.FieldVolume, e.Object.GetName())
	w.source(q, e.Object.(*v1beta2.Volume))
}

func (w watches) volumeChanged(ctx context.Context, e event.UpdateEvent, q kube.Queue) {
	before, after := e.ObjectOld.(*v1beta2.Volume), e.ObjectNew.(*v1beta2.Volume)
	if v1beta2.SharedSnapshot(before) != v1beta2.SharedSnapshot(after) {
		w.source(q, before)
		w.source(q, after)
	}
	was, is := volumeFacts(before), volumeFacts(after)
	switch {
	case was.uid != is.uid || was.going != is.going:
		w.volume(ctx, q, kube.FieldVolume, e.ObjectNew.GetName())
	case was != is:
		w.volume(ctx, q, byBusy, e.ObjectNew.GetName())
	}
}

type ofVolumes struct {
	uid                                types.UID
	generation                         int64
	state, robust, node, move, filling string
	going                              bool
}

// volumeFacts: the generation stands for the spec.
func volumeFacts(v *v1beta2.Volume) ofVolumes {
	filling, _ := snapshot.Filling(v)
	return ofVolumes{
		uid: v.UID, generation: v.Generation, state: v.Status.State, robust: v.Status.Robustness, node: v.Status.CurrentNodeID,
		move: v.Status.CurrentMigrationNodeID, filling: filling, going: v.DeletionTimestamp != nil,
	}
}

// source enqueues the snapshot whose data a volume needs.
func (w watches) source(q kube.Queue, v *v1beta2.Volume) {
	if _, shared, ok := strings.Cut(v1beta2.SharedSnapshot(v), "/"); ok {
		w.Enqueue(q, shared)
	}
}

// setting enqueues those whom the setting lets continue, or holds back.
func (w watches) setting(ctx context.Context, obj client.Object) (names []string) {
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
	return names
}

// volume enqueues the volume's snapshots that an index picks.
func (w watches) volume(ctx context.Context, q kube.Queue, index, name string) {
	w.Enqueue(q, w.names(ctx, index, name)...)
}

func (w watches) names(ctx context.Context, index, key string) []string {
	return w.Names(ctx, &v1beta2.SnapshotList{}, client.MatchingFields{index: key})
}
