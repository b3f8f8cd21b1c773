package instancecontroller

import (
	"context"
	"maps"
	"net"
	"slices"
	"strconv"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/instance"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/volumesize"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
)

// targets reads the engines that a frontend's spec, its record and its switch-over name, and how large the wanted one is.
func (s *base) targets(ctx context.Context, reader client.Reader, w *instance.World) error {
	names := []string{w.Object.Target.Engine, w.Status.Switchover.Engine}
	if w.Here != nil && w.Here.Entry != nil {
		names = append(names, w.Here.Entry.EngineName)
		for _, p := range w.Here.Entry.Paths {
			names = append(names, p.EngineName)
		}
	}
	w.Engines = map[string]instance.EngineFacts{}
	for _, name := range names {
		if _, known := w.Engines[name]; known || name == "" {
			continue
		}
		if err := s.target(ctx, reader, w, name); err != nil {
			return err
		}
	}
	return nil
}

// target reads one of them.
func (s *base) target(ctx context.Context, reader client.Reader, w *instance.World, name string) error {
	// Before the engine is read: what work brought that ends in between was written to it.
	working := s.options.Working != nil && s.options.Working(name)
	polled := s.options.Polled == nil || s.options.Polled(name)
	engine, err := lookup.Shared(ctx, reader, s.rt.Namespace, name, &v1beta2.Engine{})
	if err != nil {
		return err
	}
	if engine == nil { // it is not deleted before its engine has ended
		gone, err := s.runsNowhere(ctx, name, w.Object.DataEngine)
		w.Engines[name] = instance.EngineFacts{Gone: gone}
		return err
	}
	if name == w.Object.Target.Engine {
		w.EngineSize = volumesize.Net(engine.Status.CurrentSize)
	}
	facts, err := s.engineFacts(ctx, engine)
	facts.Working = working || !polled && facts.Address != "" && !facts.NodeOut // another one is not polled
	w.Engines[name] = facts
	return err
}

// engineFacts are what is known of one engine.
func (s *base) engineFacts(ctx context.Context, e *v1beta2.Engine) (out instance.EngineFacts, err error) {
	out = instance.EngineFacts{UID: string(e.UID), Address: servesAt(e), InstanceManager: e.Status.InstanceManagerName}
	var at instance.Node
	if _, err := s.nodeFacts(ctx, e.Spec.NodeID, &at); err != nil {
		return out, err
	}
	out.NodeOut, out.OutSince, out.Loading = at.Out(), at.OutSince, at.Loading
	if out.Address != "" {
		if !out.NodeOut {
			out.Rebuilding = rebuilds(e)
		}
		return out, nil
	}
	_, seen := read(e)
	out.Failed = seen.State == v1beta2.InstanceStateError
	if !seen.Begun() {
		if seen.State == v1beta2.InstanceStateStopped && seen.NodeDown == "" {
			out.Gone, err = s.runsNowhere(ctx, e.Name, e.Spec.DataEngine)
		}
		return out, err
	}
	if seen.InstanceManager == "" {
		return out, nil
	}
	im, left, err := s.manager(ctx, seen.InstanceManager)
	out.Gone = err == nil && (im == nil && left == nil || s.store.Absent(inventory.Subject{InstanceManager: seen.InstanceManager, Name: e.Name,
		UUID: seen.UUID,
		Type: v1beta2.InstanceTypeEngine}))
	return out, err
}

// rebuilds is the replica that a v2 engine copies to, or "": ReplicaAdd answers at once, and the engine continues by itself.
func rebuilds(e *v1beta2.Engine) string {
	for _, name := range slices.Sorted(maps.Keys(e.Spec.ReplicaAddressMap)) {
		if e.Status.ReplicaModeMap[name] == v1beta2.ReplicaModeWO {
			return name
		}
	}
	return ""
}

// servesAt is where an engine's target listens; empty while it does not run, or must not.
func servesAt(e *v1beta2.Engine) string {
	s := e.Status
	if e.Spec.DesireState != v1beta2.InstanceStateRunning || s.CurrentState != v1beta2.InstanceStateRunning || s.StorageIP == "" ||
		s.Port == 0 ||
		conditions.IsTrue(s.Conditions, v1beta2.InstanceNodeDown) {
		return ""
	}
	return net.JoinHostPort(s.StorageIP, strconv.Itoa(s.Port))
}

// ledBy finds the frontend that leads to a v2 engine which runs and must stop: its server has the engine on record, or I/O may go there
// because of a switch-over that is under way. Where a frontend's list is unknown, only its status reports.
func (s *base) ledBy(ctx context.Context, key Key, w *instance.World) error {
	stops := key.Kind == v1beta2.InstanceTypeEngine && w.Object.DataEngine == v1beta2.DataEngineV2 && !w.Object.Running
	if !stops || w.Here == nil || w.Here.Entry == nil {
		return nil
	}
	var frontends v1beta2.EngineFrontendList
	if err := lookup.ListShared(ctx, s.rt.Client, s.rt.Namespace, &frontends,
		client.MatchingFields{kube.FieldVolume: w.Object.Volume}); err != nil {
		return err
	}
	for i := range frontends.Items {
		f := &frontends.Items[i]
		if f.DeletionTimestamp == nil && f.Spec.DesireState == v1beta2.InstanceStateRunning && s.leads(f, key.Name) {
			w.LedBy = f.Name
		}
	}
	return nil
}

func (s *base) leads(f *v1beta2.EngineFrontend, engine string) bool {
	if f.Status.SwitchoverInProgress() && f.Status.Switchover.EngineName == engine {
		return true
	}
	snapshot, known := s.store.Latest(f.Status.InstanceManagerName)
	if !known {
		return false
	}
	listed, there := snapshot.Instances.Find(f.Name)
	return there && instance.Leads(entryOf(listed), engine)
}
