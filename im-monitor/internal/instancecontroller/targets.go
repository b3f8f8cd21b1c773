package instancecontroller

import (
	"context"
	"net"
	"strconv"

	"drover.dev/drover/im-monitor/internal/instance"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
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
		engine, err := get(ctx, s.rt.Client, s.rt.Namespace, name, &v1beta2.Engine{})
		if err != nil {
			return err
		}
		if engine == nil {
			continue
		}
		if name == w.Object.Target.Engine {
			w.EngineSize = engine.Status.CurrentSize
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
