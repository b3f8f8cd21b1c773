package attach

import (
	"context"
	"errors"
	"fmt"
	"time"

	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// The pods' tickets of a migration: where the guest is, and where it goes.
const source, target = "csi-source", "csi-target"

// migratable lets two nodes hold a volume while it moves.
func migratable(spec *v1beta2.VolumeSpec) {
	spec.AccessMode, spec.Migratable = v1beta2.AccessModeReadWriteMany, true
}

// migratableV1 also lets a guest write while its v1 volume moves; see docs/limits.md.
func migratableV1(spec *v1beta2.VolumeSpec) {
	migratable(spec)
	spec.RevisionCounterDisabled = true
}

// movable orders a migratable volume and attaches it where the guest is.
func movable(ctx context.Context, s *scenarios.Scene) error {
	if err := order(2, migratable)(ctx, s); err != nil {
		return err
	}
	return guestIsNear(ctx, s)
}

// guestIsNear attaches the volume where the guest is.
func guestIsNear(ctx context.Context, s *scenarios.Scene) error {
	if err := s.Ticket(ctx, s.Volume, source, v1beta2.AttacherCSI, near, nil); err != nil {
		return err
	}
	if err := s.WaitTicket(ctx, s.Volume, source, true, "", patience); err != nil {
		return err
	}
	return s.WaitRobust(ctx, s.Volume, v1beta2.VolumeRobustnessHealthy, patience)
}

// A10: a volume moves live to the node of a second ticket.
func migrates() scenarios.Scenario {
	return scenarios.Scenario{
		ID: "A10", Sentence: "a migratable volume moves live from one ticket's node to the other's", Setup: movable,
		Act: movesFar, End: hasMovedFar,
	}
}

// movesFar adds the ticket of the guest's next node, and removes the first one when the guest may move.
func movesFar(ctx context.Context, s *scenarios.Scene) error {
	if err := s.Ticket(ctx, s.Volume, target, v1beta2.AttacherCSI, far, nil); err != nil {
		return err
	}
	if err := s.WaitTicket(ctx, s.Volume, target, true, "", patience); err != nil {
		return err
	}
	return s.DropTicket(ctx, s.Volume, source)
}

// hasMovedFar waits until the volume is whole where the guest went.
func hasMovedFar(ctx context.Context, s *scenarios.Scene) error {
	if err := s.WaitAttached(ctx, s.Volume, far, patience); err != nil {
		return err
	}
	if err := s.WaitTicket(ctx, s.Volume, target, true, "", patience); err != nil {
		return err
	}
	return s.WaitRobust(ctx, s.Volume, v1beta2.VolumeRobustnessHealthy, patience)
}

// A10v1: a v1 volume moves live under writes. Its second engine has processes of its own, which exist for the move only.
func migratesV1() scenarios.Scenario {
	return scenarios.Scenario{
		ID: "A10v1", Sentence: "a v1 volume moves live under writes: none is lost, and no second process is left",
		Setup: func(ctx context.Context, s *scenarios.Scene) error {
			s.Volume = world.Unique("scenario")
			if err := s.Order(ctx, s.Volume, v1beta2.DataEngineV1, 2, migratableV1); err != nil {
				return err
			}
			if err := guestIsNear(ctx, s); err != nil {
				return err
			}
			if err := s.WriteOn(ctx, s.Volume, writesEvery); err != nil {
				return err
			}
			return s.WaitWritten(ctx, s.Volume, patience)
		},
		Act: movesFar,
		End: func(ctx context.Context, s *scenarios.Scene) error {
			if err := hasMovedFar(ctx, s); err != nil {
				return err
			}
			return s.Wait(ctx, "two replicas", patience, func(ctx context.Context) (string, error) {
				replicas, err := s.ReplicasOf(ctx, s.Volume)
				if len(replicas) == 2 {
					return "", err
				}
				return fmt.Sprintf("it has %d", len(replicas)), err
			})
		},
		Check: func(ctx context.Context, s *scenarios.Scene) error {
			out, err := s.StopWriting(ctx, s.Volume)
			if err != nil {
				return err
			}
			if out.Lost+out.Doubled+out.Misdirected > 0 {
				return errors.New(out.Harm())
			}
			return hold(ctx, s)
		},
	}
}

// writesEvery is the pause between two writes of a guest.
const writesEvery = 5 * time.Millisecond
