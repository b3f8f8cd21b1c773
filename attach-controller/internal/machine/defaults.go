package machine

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

// defaults fills in what a webhook fills in elsewhere, and creates the volume's engine, and for v2 its frontend.
type defaults struct{ *draft }

func (d defaults) decide() {
	d.setSpec()
	if d.Volume.Spec.DataEngine == "" || !slices.Contains(d.Volume.Finalizers, v1beta2.Finalizer) {
		return // the rest waits until the data engine is recorded, and the volume has its finalizer
	}
	if d.engine == nil {
		d.add(Write{Kind: Create, Stage: StageMake, Object: d.newEngine(d.nextName("-e-"), true)})
	} else if d.engine.DeletionTimestamp != nil && d.stopped(ofEngine(d.engine)) {
		d.remove(d.engine)
	}
	if d.engine != nil && d.engine.DeletionTimestamp == nil && d.frontend == nil && d.isV2() {
		d.add(Write{Kind: Create, Stage: StageMake, Object: d.newFrontend(d.engine, "")})
	} else if d.frontend != nil && d.frontend.DeletionTimestamp != nil && d.stopped(ofFrontend(d.frontend)) {
		d.remove(d.frontend)
	}
}

func (d defaults) setSpec() {
	s := d.Volume.Spec
	empty := map[string]any{}
	put := func(missing bool, key string, value any) {
		if missing {
			empty[key] = value
		}
	}
	put(s.DataEngine == "", "dataEngine", v1beta2.DataEngineV1)
	put(s.AccessMode == "", "accessMode", v1beta2.AccessModeReadWriteOnce)
	replicas := d.Settings.DefaultReplicas
	if s.DataLocality == v1beta2.DataLocalityStrictLocal {
		replicas = 1 // where it is attached
	}
	put(s.NumberOfReplicas <= 0, "numberOfReplicas", replicas)
	// The engine gets the volume's number, so that it and snapshot-controller count to the same one.
	put(s.SnapshotMaxCount <= 0 && d.Settings.SnapshotMaxCount > 0, "snapshotMaxCount", d.Settings.SnapshotMaxCount)
	put(s.DataLocality == "", "dataLocality", "disabled")
	put(s.Frontend == "" && !s.DisableFrontend && !s.Standby, "frontend", "blockdev")
	put(s.Image == "" && d.Settings.DefaultEngineImage != "", "image", d.Settings.DefaultEngineImage)
	put(d.startsWithoutRevisionCounter(), "revisionCounterDisabled", true)
	for key, value := range empty {
		d.patch(StageMake, d.Volume, key, value)
	}
	if label := v1beta2.VolumeLabelValue(d.Volume.Name); d.Volume.Labels[v1beta2.LabelVolume] != label {
		d.label(StageMake, d.Volume, v1beta2.LabelVolume, label)
	}
	if !slices.Contains(d.Volume.Finalizers, v1beta2.Finalizer) {
		d.writeTo(StageMake, d.Volume).Finalizer = true
	}
}

// startsWithoutRevisionCounter reports whether a volume that is being created is to do without the revision counter. Engine and replicas
// must agree on it for ever: it is decided once, before any of them exists, and the API server takes it only so long.
func (d defaults) startsWithoutRevisionCounter() bool {
	s := d.Volume.Spec
	fresh := d.engine == nil && len(d.Replicas) == 0 && !d.isV2() && d.phase <= phaseCreating
	return fresh && !s.RevisionCounterDisabled && (d.Settings.DisableRevisionCounter || s.DataLocality == v1beta2.DataLocalityStrictLocal)
}

// nextName returns a name of the form `<volume><infix><n>` that none of the volume's objects has.
func (f Facts) nextName(infix string) string {
	last := -1
	note := func(name string) {
		if n, err := strconv.Atoi(strings.TrimPrefix(name, f.Volume.Name+infix)); err == nil {
			last = max(last, n)
		}
	}
	for _, object := range slices.Concat(f.Objects.All(), f.Previous.All()) {
		note(object.GetName())
	}
	for _, r := range f.seconds { // one on a node that is down may outlive its engine, and must not be taken for another engine's
		note(r.Spec.EngineName)
	}
	return fmt.Sprintf("%s%s%d", f.Volume.Name, infix, last+1)
}

func (f Facts) objectMeta(name, node string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: name, Namespace: f.Volume.Namespace, Finalizers: []string{v1beta2.Finalizer},
		Labels: map[string]string{v1beta2.LabelVolume: v1beta2.VolumeLabelValue(f.Volume.Name), v1beta2.LabelNode: node},
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: v1beta2.GroupVersion.String(), Kind: "Volume", Name: f.Volume.Name, UID: f.Volume.UID,
		}},
	}
}

func (f Facts) newEngine(name string, active bool) *v1beta2.Engine {
	s := f.Volume.Spec
	return &v1beta2.Engine{ObjectMeta: f.objectMeta(name, ""), Spec: v1beta2.EngineSpec{
		Active: active, DataEngine: s.DataEngine, DesireState: v1beta2.InstanceStateStopped, DisableFrontend: s.DisableFrontend,
		Frontend: s.Frontend, Image: f.image(), RevisionCounterDisabled: s.RevisionCounterDisabled,
		UnmapMarkSnapChainRemovedEnabled: f.removesSnapshotsOnTrim(),
		SnapshotMaxCount:                 s.SnapshotMaxCount, SnapshotMaxSize: s.SnapshotMaxSize, VolumeName: f.Volume.Name,
		VolumeSize: v1beta2.SizeOf(f.Volume),
	}}
}

// newSecondEngine returns the engine at the target of a migration: for v2 over the replicas that are RW in the first one. That of a v1
// volume starts once it has replica processes of its own.
func (f Facts) newSecondEngine(node string) *v1beta2.Engine {
	e := f.newEngine(f.nextName("-e-"), false)
	e.Labels[v1beta2.LabelNode] = node
	e.Spec.NodeID, e.Spec.VolumeSize = node, f.engine.Spec.VolumeSize
	if f.isV2() {
		e.Spec.DesireState, e.Spec.ReplicaAddressMap = v1beta2.InstanceStateRunning, f.rwReplicas()
	}
	return e
}

// rwReplicas returns the addresses of the replicas that are RW in the volume's engine.
func (f Facts) rwReplicas() map[string]string {
	out := map[string]string{}
	for name, where := range f.engine.Spec.ReplicaAddressMap {
		if f.mode(name) == v1beta2.ReplicaModeRW {
			out[name] = where
		}
	}
	return out
}

// newFrontend returns the initiator of an engine; with a node it must run at once.
func (f Facts) newFrontend(e *v1beta2.Engine, node string) *v1beta2.EngineFrontend {
	s := f.Volume.Spec
	out := &v1beta2.EngineFrontend{ObjectMeta: f.objectMeta(f.nextName("-ef-"), node), Spec: v1beta2.EngineFrontendSpec{
		Active: e.Spec.Active, DataEngine: s.DataEngine, DesireState: v1beta2.InstanceStateStopped, DisableFrontend: s.DisableFrontend,
		EngineName: e.Name, Frontend: s.Frontend, Image: f.image(), Size: e.Spec.VolumeSize, VolumeName: f.Volume.Name,
		VolumeSize:        e.Spec.VolumeSize,
		UblkNumberOfQueue: s.UblkNumberOfQueue, UblkQueueDepth: s.UblkQueueDepth, NvmeTCPNrIOQueues: s.NvmeTCPNrIOQueues,
	}}
	if node != "" {
		out.Spec.NodeID, out.Spec.DesireState = node, v1beta2.InstanceStateRunning
		out.Spec.TargetIP, out.Spec.TargetPort = e.Status.StorageIP, e.Status.Port
	}
	return out
}
