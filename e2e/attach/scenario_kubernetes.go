package attach

import (
	"context"

	"drover.dev/drover/e2e/scenarios"
)

// A13: Kubernetes requests a volume and releases it. The scenario replaces the attach-detach controller, so that every write is
// a crash point; a test covers the real one.
func kubernetesAsks() scenarios.Scenario {
	asked := func(s *scenarios.Scene) string { return "csi-" + s.Volume }
	return scenarios.Scenario{
		ID: "A13", Sentence: "a VolumeAttachment of Kubernetes attaches a volume, its end detaches it",
		Setup: func(ctx context.Context, s *scenarios.Scene) error {
			if err := order(2, nil)(ctx, s); err != nil {
				return err
			}
			return s.PersistentVolume(ctx, s.Volume)
		},
		Act: func(ctx context.Context, s *scenarios.Scene) error {
			if err := s.AskAttachment(ctx, asked(s), s.Volume, near); err != nil {
				return err
			}
			if _, err := s.WaitKubernetesAttached(ctx, s.Volume, near, patience); err != nil {
				return err
			}
			if err := s.WaitTicket(ctx, s.Volume, asked(s), true, "", patience); err != nil {
				return err
			}
			return s.EndAttachment(ctx, asked(s))
		},
		End: func(ctx context.Context, s *scenarios.Scene) error {
			if err := s.WaitKubernetesDetached(ctx, s.Volume, near, patience); err != nil {
				return err
			}
			return s.WaitDetached(ctx, s.Volume, patience)
		},
	}
}
