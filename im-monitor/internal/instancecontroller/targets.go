package instancecontroller

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/instance"
	"drover.dev/drover/im-monitor/internal/volumesize"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/lookup"
)

// targets reads the engines that a frontend's spec and paths name: where each serves, and how large the wanted one is.
func (s *shell) targets(ctx context.Context, w *instance.World) error {
	names := []string{w.Object.Target.Engine}
	if w.Here != nil && w.Here.Entry != nil {
		for _, p := range w.Here.Entry.Paths {
			names = append(names, p.EngineName)
		}
	}
	read := map[string]bool{}
	for _, name := range names {
		if read[name] {
			continue
		}
		read[name] = true
		engine, err := lookup.Shared(ctx, s.rt.Client, s.rt.Namespace, name, &v1beta2.Engine{})
		if err != nil {
			return err
		}
		if engine == nil {
			continue
		}
		if name == w.Object.Target.Engine {
			w.EngineSize = volumesize.Net(engine.Status.CurrentSize)
		}
		if where := servesAt(engine); where != "" {
			w.Serving = append(w.Serving, where)
		}
	}
	return nil
}

// servesAt is where an engine's target listens; empty while it does not run, or shall not.
func servesAt(e *v1beta2.Engine) string {
	s := e.Status
	if e.Spec.DesireState != v1beta2.InstanceStateRunning || s.CurrentState != v1beta2.InstanceStateRunning || s.StorageIP == "" || s.Port == 0 ||
		conditions.IsTrue(s.Conditions, v1beta2.InstanceNodeDown) {
		return ""
	}
	return net.JoinHostPort(s.StorageIP, strconv.Itoa(s.Port))
}

// ledBy finds the frontend that leads to a v2 engine which runs and shall stop: the path to it carries I/O, or may. Where a frontend's list is unknown
// nothing is concluded from it.
func (s *shell) ledBy(ctx context.Context, key Key, w *instance.World) error {
	stops := key.Kind == v1beta2.InstanceTypeEngine && w.Object.DataEngine == v1beta2.DataEngineV2 && !w.Object.Running
	if !stops || w.Here == nil || w.Here.Entry == nil {
		return nil
	}
	var frontends v1beta2.EngineFrontendList
	if err := s.rt.Client.List(ctx, &frontends, client.InNamespace(s.rt.Namespace), client.MatchingFields{frontendsByVolume: w.Object.Volume}, client.UnsafeDisableDeepCopy); err != nil {
		return fmt.Errorf("listing the frontends of volume %s: %w", w.Object.Volume, err)
	}
	for i := range frontends.Items {
		f := &frontends.Items[i]
		if f.DeletionTimestamp != nil || f.Spec.DesireState != v1beta2.InstanceStateRunning {
			continue
		}
		snapshot, known := s.store.Latest(f.Status.InstanceManagerName)
		if !known {
			continue
		}
		carries := func(p v1beta2.NvmeTCPPath) bool { return p.EngineName == key.Name && p.ANAState != inaccessible }
		if listed, there := snapshot.Instances[f.Name]; there && slices.ContainsFunc(entryOf(listed).Paths, carries) {
			w.LedBy = f.Name
		}
	}
	return nil
}

// inaccessible is the state of a path that carries no I/O.
const inaccessible = "inaccessible"
