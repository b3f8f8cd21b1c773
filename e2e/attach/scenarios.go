package attach

import (
	"context"
	"fmt"

	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

const (
	near, far, third = scenarios.Near, scenarios.Far, scenarios.Third
	patience         = scenarios.Patience
)

// Scenarios are the scenarios of attached volumes. Each write and each call in them is a crash point.
func Scenarios() []scenarios.Scenario {
	scenarioList := []scenarios.Scenario{comesAndGoes(), interrupts(), nodeDies(), replicaDies(), kubernetesAsks(), migrates(),
		deletedWhileRelocated()}
	if world.FullDataEngine() != v1beta2.DataEngineV1 { // else A10 is that scenario
		scenarioList = append(scenarioList, migratesV1())
	}
	for i := range scenarioList {
		scenarioList[i].Topology = scenarios.Attached
		if scenarioList[i].Check == nil {
			scenarioList[i].Check = hold
		}
	}
	return scenarioList
}

// order creates the scenario's volume, of v2 where there is v2: it has every object that a v1 volume has, and a frontend.
func order(replicas int, change func(*v1beta2.VolumeSpec)) func(context.Context, *scenarios.Scene) error {
	return func(ctx context.Context, s *scenarios.Scene) error {
		s.Volume = world.Unique("scenario")
		return s.Order(ctx, s.Volume, world.FullDataEngine(), replicas, change)
	}
}

// attached orders a volume and attaches it near.
func attached(ctx context.Context, s *scenarios.Scene) error {
	if err := order(2, nil)(ctx, s); err != nil {
		return err
	}
	if err := s.Ticket(ctx, s.Volume, "csi-old", v1beta2.AttacherCSI, near, nil); err != nil {
		return err
	}
	if err := s.WaitTicket(ctx, s.Volume, "csi-old", true, "", patience); err != nil {
		return err
	}
	return s.WaitRobust(ctx, s.Volume, v1beta2.VolumeRobustnessHealthy, patience)
}

// A1: a ticket comes and goes.
func comesAndGoes() scenarios.Scenario {
	return scenarios.Scenario{
		ID: "A1", Sentence: "a ticket attaches a volume, its end detaches it", Setup: order(2, nil),
		Act: func(ctx context.Context, s *scenarios.Scene) error {
			if err := s.Ticket(ctx, s.Volume, "me", v1beta2.AttacherLonghornAPI, near, nil); err != nil {
				return err
			}
			if err := s.WaitTicket(ctx, s.Volume, "me", true, "", patience); err != nil {
				return err
			}
			return s.DropTicket(ctx, s.Volume, "me")
		},
		End: func(ctx context.Context, s *scenarios.Scene) error { return s.WaitDetached(ctx, s.Volume, patience) },
	}
}

// A4: a pod takes the volume from a snapshot.
func interrupts() scenarios.Scenario {
	ticket := func(s *scenarios.Scene) string { return v1beta2.TicketID(v1beta2.AttacherSnapshot, s.Volume+"-s") }
	return scenarios.Scenario{
		ID: "A4", Sentence: "a pod's ticket elsewhere interrupts a snapshot's, and both are served eventually",
		Setup: func(ctx context.Context, s *scenarios.Scene) error {
			if err := order(2, nil)(ctx, s); err != nil {
				return err
			}
			if err := s.Snapshot(ctx, s.Volume, s.Volume+"-s"); err != nil {
				return err
			}
			if err := s.Ticket(ctx, s.Volume, ticket(s), v1beta2.AttacherSnapshot, near, nil); err != nil {
				return err
			}
			return served(ctx, s, ticket(s))
		},
		Act: func(ctx context.Context, s *scenarios.Scene) error {
			if err := s.Ticket(ctx, s.Volume, "csi-pod", v1beta2.AttacherCSI, far, nil); err != nil {
				return err
			}
			if err := s.WaitTicket(ctx, s.Volume, "csi-pod", true, "", patience); err != nil {
				return err
			}
			return s.DropTicket(ctx, s.Volume, "csi-pod")
		},
		End: func(ctx context.Context, s *scenarios.Scene) error { return served(ctx, s, ticket(s)) },
	}
}

// served waits until the snapshot's ticket holds the volume. Where snapshot-controller runs, it takes the Snapshot and removes the
// ticket.
func served(ctx context.Context, s *scenarios.Scene, ticket string) error {
	return s.Wait(ctx, fmt.Sprintf("ticket %q of %s to hold the volume, or its Snapshot to be ready", ticket, s.Volume), patience,
		func(ctx context.Context) (string, error) {
			snapshot := &v1beta2.Snapshot{}
			if err := s.Get(ctx, s.Volume+"-s", snapshot); err != nil || snapshot.Status.ReadyToUse {
				return "", err
			}
			attachment := &v1beta2.VolumeAttachment{}
			if err := s.Get(ctx, s.Volume, attachment); err != nil || attachment.Status.AttachmentTicketStatuses[ticket].Satisfied {
				return "", err
			}
			return "neither is so", nil
		})
}

// A7: a node goes down under an attached volume, the pod moves, the node returns.
func nodeDies() scenarios.Scenario {
	return scenarios.Scenario{
		ID: "A7", Sentence: "a node dies under an attached volume, the pod moves, the node returns", Setup: attached,
		Act: func(ctx context.Context, s *scenarios.Scene) error {
			if err := s.CutNode(ctx, near); err != nil {
				return err
			}
			if err := s.WaitNode(ctx, near, v1beta2.ConditionFalse, patience); err != nil {
				return err
			}
			if err := s.Ticket(ctx, s.Volume, "csi-new", v1beta2.AttacherCSI, far, nil); err != nil {
				return err
			}
			if err := s.DropTicket(ctx, s.Volume, "csi-old"); err != nil {
				return err
			}
			if err := s.WaitTicket(ctx, s.Volume, "csi-new", true, "", patience); err != nil {
				return err
			}
			return s.JoinNode(ctx, near)
		},
		End: func(ctx context.Context, s *scenarios.Scene) error {
			if err := s.WaitRobust(ctx, s.Volume, v1beta2.VolumeRobustnessHealthy, patience); err != nil {
				return err
			}
			return s.WaitTicket(ctx, s.Volume, "csi-new", true, "", patience)
		},
	}
}

// A9: a replica dies under an attached volume, and is rebuilt.
func replicaDies() scenarios.Scenario {
	return scenarios.Scenario{
		ID: "A9", Sentence: "a replica dies under an attached volume: degraded, rebuilt, healthy", Setup: attached,
		Act: func(ctx context.Context, s *scenarios.Scene) error {
			replicas, err := s.ReplicasOf(ctx, s.Volume)
			if err != nil {
				return err
			}
			for _, r := range replicas {
				if r.Spec.NodeID != near {
					return s.KillInstance(ctx, r.Spec.NodeID, r.Name)
				}
			}
			return fmt.Errorf("all %d replicas are on %s", len(replicas), near)
		},
		End: func(ctx context.Context, s *scenarios.Scene) error {
			if err := s.WaitVolume(ctx, s.Volume, "to have been degraded", patience, func(v *v1beta2.Volume) string {
				if v.Status.LastDegradedAt == "" {
					return "it was not degraded yet"
				}
				return ""
			}); err != nil {
				return err
			}
			if err := s.WaitRobust(ctx, s.Volume, v1beta2.VolumeRobustnessHealthy, patience); err != nil {
				return err
			}
			return s.WaitTicket(ctx, s.Volume, "csi-old", true, "", patience)
		},
	}
}

// hold checks the invariants of attached volumes: one holder (ATT-1), and a satisfied ticket means an attached volume (ATT-2).
func hold(ctx context.Context, s *scenarios.Scene) error {
	nodes, err := s.EngineNodes(ctx, s.Volume)
	if err != nil {
		return err
	}
	volume := &v1beta2.Volume{}
	if err := s.Get(ctx, s.Volume, volume); err != nil {
		return err
	}
	attachment := &v1beta2.VolumeAttachment{}
	if err := s.Get(ctx, s.Volume, attachment); err != nil {
		return err
	}
	if len(nodes) > 1 {
		if err := s.Wait(ctx, "the end of the second engine", patience, oneEngine(s, s.Volume)); err != nil {
			return fmt.Errorf("ATT-1: %w", err)
		}
	}
	for id, answer := range attachment.Status.AttachmentTicketStatuses {
		ticket, ok := attachment.Spec.AttachmentTickets[id]
		if ok && answer.Satisfied && (volume.Status.CurrentNodeID != ticket.NodeID || volume.Status.State != v1beta2.VolumeStateAttached) {
			return fmt.Errorf("ATT-2: ticket %q of %s is satisfied, but the volume is %s on %q", id, s.Volume, volume.Status.State,
				volume.Status.CurrentNodeID)
		}
	}
	return nil
}

// oneEngine returns a text while more than one node runs an engine of the volume.
func oneEngine(w interface {
	EngineNodes(context.Context, string) ([]string, error)
}, name string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		nodes, err := w.EngineNodes(ctx, name)
		if err != nil || len(nodes) <= 1 {
			return "", err
		}
		return "engines run on " + world.Join(nodes), nil
	}
}
