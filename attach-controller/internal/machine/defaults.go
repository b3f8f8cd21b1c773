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
func (p *pass) defaults() {
	p.fill()
	if p.v.Spec.DataEngine == "" || !slices.Contains(p.v.Finalizers, v1beta2.Finalizer) {
		return // the rest waits until the data engine is recorded, and the volume has its finalizer
	}
	if p.engine == nil {
		p.add(Write{Kind: Create, Stage: StageMake, Object: p.newEngine(p.next("-e-"), true)})
	} else if p.engine.DeletionTimestamp != nil && p.stopped(ofEngine(p.engine)) {
		p.drop(p.engine)
	}
	if p.engine != nil && p.engine.DeletionTimestamp == nil && p.frontend == nil && p.isV2() {
		p.add(Write{Kind: Create, Stage: StageMake, Object: p.newFrontend(p.engine, "")})
	} else if p.frontend != nil && p.frontend.DeletionTimestamp != nil && p.stopped(ofFrontend(p.frontend)) {
		p.drop(p.frontend)
	}
}

func (p *pass) fill() {
	s := p.v.Spec
	empty := map[string]any{}
	put := func(missing bool, key string, value any) {
		if missing {
			empty[key] = value
		}
	}
	put(s.DataEngine == "", "dataEngine", v1beta2.DataEngineV1)
	put(s.AccessMode == "", "accessMode", v1beta2.AccessModeReadWriteOnce)
	replicas := p.Settings.DefaultReplicas
	if s.DataLocality == v1beta2.DataLocalityStrictLocal {
		replicas = 1 // where it is attached
	}
	put(s.NumberOfReplicas == 0, "numberOfReplicas", replicas)
	put(s.DataLocality == "", "dataLocality", "disabled")
	put(s.Frontend == "" && !s.DisableFrontend && !s.Standby, "frontend", "blockdev")
	put(s.Image == "" && p.Settings.DefaultEngineImage != "", "image", p.Settings.DefaultEngineImage)
	// Engine and replicas must agree on it for ever: it is decided once, before any of them exists.
	fresh := p.engine == nil && len(p.Replicas) == 0 && !p.isV2()
	put(fresh && !s.RevisionCounterDisabled && (p.Settings.DisableRevisionCounter || s.DataLocality == v1beta2.DataLocalityStrictLocal),
		"revisionCounterDisabled", true)
	for key, value := range empty {
		p.patch(StageMake, p.v, key, value)
	}
	if label := v1beta2.VolumeLabelValue(p.v.Name); p.v.Labels[v1beta2.LabelVolume] != label {
		p.label(StageMake, p.v, v1beta2.LabelVolume, label)
	}
	if !slices.Contains(p.v.Finalizers, v1beta2.Finalizer) {
		p.writeTo(StageMake, p.v).Finalizer = true
	}
}

// next returns a name of the form `<volume><infix><n>` that none of the volume's objects has.
func (p *pass) next(infix string) string {
	last := -1
	note := func(name string) {
		if n, err := strconv.Atoi(strings.TrimPrefix(name, p.v.Name+infix)); err == nil {
			last = max(last, n)
		}
	}
	for _, e := range p.Engines {
		note(e.Name)
	}
	for _, f := range p.Frontends {
		note(f.Name)
	}
	for _, s := range p.Previous {
		note(s.GetName())
	}
	return fmt.Sprintf("%s%s%d", p.v.Name, infix, last+1)
}

func (p *pass) meta(name, node string) metav1.ObjectMeta {
	return metav1.ObjectMeta{
		Name: name, Namespace: p.v.Namespace, Finalizers: []string{v1beta2.Finalizer},
		Labels: map[string]string{v1beta2.LabelVolume: v1beta2.VolumeLabelValue(p.v.Name), v1beta2.LabelNode: node},
		OwnerReferences: []metav1.OwnerReference{{
			APIVersion: v1beta2.GroupVersion.String(), Kind: "Volume", Name: p.v.Name, UID: p.v.UID,
		}},
	}
}

func (p *pass) newEngine(name string, active bool) *v1beta2.Engine {
	s := p.v.Spec
	return &v1beta2.Engine{ObjectMeta: p.meta(name, ""), Spec: v1beta2.EngineSpec{
		Active: active, DataEngine: s.DataEngine, DesireState: v1beta2.InstanceStateStopped, DisableFrontend: s.DisableFrontend,
		Frontend: s.Frontend, Image: p.image(), RevisionCounterDisabled: s.RevisionCounterDisabled,
		UnmapMarkSnapChainRemovedEnabled: p.unmaps(),
		SnapshotMaxCount:                 s.SnapshotMaxCount, SnapshotMaxSize: s.SnapshotMaxSize, VolumeName: p.v.Name,
		VolumeSize: v1beta2.SizeOf(p.v),
	}}
}

// secondEngine returns the engine at the target of a migration, over the replicas that are RW in the first one.
func (p *pass) secondEngine(node string) *v1beta2.Engine {
	e := p.newEngine(p.next("-e-"), false)
	e.Labels[v1beta2.LabelNode] = node
	e.Spec.NodeID, e.Spec.DesireState, e.Spec.VolumeSize = node, v1beta2.InstanceStateRunning, p.engine.Spec.VolumeSize
	e.Spec.ReplicaAddressMap = p.rwReplicas()
	return e
}

// rwReplicas returns the addresses of the replicas that are RW in the volume's engine.
func (p *pass) rwReplicas() map[string]string {
	out := map[string]string{}
	for name, where := range p.engine.Spec.ReplicaAddressMap {
		if p.mode(name) == v1beta2.ReplicaModeRW {
			out[name] = where
		}
	}
	return out
}

// newFrontend returns the initiator of an engine; with a node it must run at once.
func (p *pass) newFrontend(e *v1beta2.Engine, node string) *v1beta2.EngineFrontend {
	s := p.v.Spec
	f := &v1beta2.EngineFrontend{ObjectMeta: p.meta(p.next("-ef-"), node), Spec: v1beta2.EngineFrontendSpec{
		Active: e.Spec.Active, DataEngine: s.DataEngine, DesireState: v1beta2.InstanceStateStopped, DisableFrontend: s.DisableFrontend,
		EngineName: e.Name, Frontend: s.Frontend, Image: p.image(), Size: e.Spec.VolumeSize, VolumeName: p.v.Name,
		VolumeSize:        e.Spec.VolumeSize,
		UblkNumberOfQueue: s.UblkNumberOfQueue, UblkQueueDepth: s.UblkQueueDepth, NvmeTCPNrIOQueues: s.NvmeTCPNrIOQueues,
	}}
	if node != "" {
		f.Spec.NodeID, f.Spec.DesireState = node, v1beta2.InstanceStateRunning
		f.Spec.TargetIP, f.Spec.TargetPort = e.Status.StorageIP, e.Status.Port
	}
	return f
}
