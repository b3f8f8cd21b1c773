package enginepoll

import (
	"context"
	"errors"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/engine"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/events"
)

// reasonSwitchover is the reason of the event that work for an engine waits for a switch-over.
const reasonSwitchover = "WaitingForSwitchover"

// held reports why work may not go through a v2 engine's frontend now. Its server sends that to the engine on record, while a switch-over
// may have led the writes to another one: a snapshot would lack some of them, a replica that is added would never get them. The frontends
// are read uncached: the one that the way goes through must be where it was when the way was found. Work that changes nothing through the
// frontend is not held.
func (c *Controller) held(ctx context.Context, e *v1beta2.Engine, op engine.Op, to way) error {
	if e.Spec.DataEngine != v1beta2.DataEngineV2 || op == engine.OpRemove {
		return nil
	}
	known, err := c.frontendsOf(ctx, e)
	if err != nil {
		return err
	}
	moved := to.frontend != frontendPlace{}
	for i := range known {
		f := &v1beta2.EngineFrontend{}
		if err := c.rt.Uncached.Get(ctx, client.ObjectKeyFromObject(&known[i]), f); client.IgnoreNotFound(err) != nil {
			return fmt.Errorf("reading frontend %s: %w", known[i].Name, err)
		}
		if why := holds(f, e); why != "" {
			c.reportHeld(e, why)
			return errors.New(why)
		}
		moved = moved && (known[i].Name != to.Frontend || whereFrontend(f) != to.frontend)
	}
	if moved {
		return fmt.Errorf("frontend %s changed since the poll", to.Frontend)
	}
	return nil
}

// holds reports why a frontend holds work for an engine up; empty where it does not. The two of a migration each have an engine of their
// own.
func holds(f *v1beta2.EngineFrontend, e *v1beta2.Engine) string {
	s := f.Status
	recorded := s.TargetIP == e.Status.StorageIP && s.TargetPort == e.Status.Port
	switch {
	case s.SwitchoverPhase != "" && (recorded || f.Spec.EngineName == e.Name || s.Switchover.EngineName == e.Name):
		return fmt.Sprintf("Frontend %s switches over to engine %s (%s): snapshots, backups, expansions and replicas of engine %s wait "+
			"until that has ended.",
			f.Name, s.Switchover.EngineName, s.SwitchoverPhase, e.Name)
	case f.Spec.EngineName == e.Name && s.TargetIP != "" && !recorded:
		return fmt.Sprintf("Frontend %s does not lead to engine %s yet: snapshots, backups, expansions and replicas of the engine wait "+
			"until it does.", f.Name, e.Name)
	}
	return ""
}

// reportHeld reports once about an engine what its work waits for.
func (c *Controller) reportHeld(e *v1beta2.Engine, why string) {
	if !c.memory.heldBy(e.Name, why) {
		return
	}
	events.Emit(c.rt.Recorder, e, events.Event{Type: corev1.EventTypeNormal, Reason: reasonSwitchover, Action: "RunEngine", Note: why})
}
