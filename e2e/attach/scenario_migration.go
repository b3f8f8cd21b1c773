package attach

import (
	"context"

	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/shared/api/v1beta2"
)

// The pods' tickets of a migration: where the guest is, and where it goes.
const source, target = "csi-source", "csi-target"

// migratable lets two nodes hold a volume while it moves.
func migratable(spec *v1beta2.VolumeSpec) {
	spec.AccessMode, spec.Migratable = v1beta2.AccessModeReadWriteMany, true
}

// movable orders a migratable volume and attaches it where the guest is.
func movable(ctx context.Context, s *scenarios.Scene) error {
	if err := order(2, migratable)(ctx, s); err != nil {
		return err
	}
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
		Act: func(ctx context.Context, s *scenarios.Scene) error {
			if err := s.Ticket(ctx, s.Volume, target, v1beta2.AttacherCSI, far, nil); err != nil {
				return err
			}
			if err := s.WaitTicket(ctx, s.Volume, target, true, "", patience); err != nil {
				return err
			}
			return s.DropTicket(ctx, s.Volume, source)
		},
		End: func(ctx context.Context, s *scenarios.Scene) error {
			if err := s.WaitAttached(ctx, s.Volume, far, patience); err != nil {
				return err
			}
			if err := s.WaitTicket(ctx, s.Volume, target, true, "", patience); err != nil {
				return err
			}
			return s.WaitRobust(ctx, s.Volume, v1beta2.VolumeRobustnessHealthy, patience)
		},
	}
}
