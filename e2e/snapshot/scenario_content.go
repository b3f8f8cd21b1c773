package snapshot

import (
	"context"

	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/world"
)

// contentClass is the VolumeSnapshotClass of the scenario.
const contentClass = "scenario-snap"

// content is the name of the Scene's VolumeSnapshotContent, and the UID of the VolumeSnapshot that it is bound to.
func content(s *scenarios.Scene) string { return s.Volume + "-content" }

// S12: a VolumeSnapshotContent of Kubernetes gets its snapshot, and ends with it. The scenario replaces the common snapshot
// controller; package kubernetes tests with the real one.
func takenForKubernetes() scenarios.Scenario {
	return scenarios.Scenario{
		ID: "S12", Sentence: "a snapshot is taken for Kubernetes once, and removed with its content",
		Setup: func(ctx context.Context, s *scenarios.Scene) error {
			if err := s.SnapshotDefinitions(ctx); err != nil {
				return err
			}
			if err := s.SnapshotClass(ctx, contentClass, "snap", "Delete"); err != nil {
				return err
			}
			return attached(world.FullDataEngine(), 0)(ctx, s)
		},
		Act: func(ctx context.Context, s *scenarios.Scene) error {
			if err := s.SnapshotContent(ctx, content(s), contentClass, s.Volume); err != nil {
				return err
			}
			if err := s.WaitSnapshotContent(ctx, content(s), patience); err != nil {
				return err
			}
			return s.ReleaseSnapshotContent(ctx, content(s))
		},
		End: func(ctx context.Context, s *scenarios.Scene) error {
			if err := s.WaitSnapshotContentGone(ctx, content(s), patience); err != nil {
				return err
			}
			return s.WaitSnapshotGone(ctx, "snapshot-"+content(s), patience)
		},
		Check: carriedOut(1, 1),
	}
}
