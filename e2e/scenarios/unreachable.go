package scenarios

import (
	"context"
	"fmt"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// orphanedNear sets up a v1 volume whose near instances are orphans.
func orphanedNear(ctx context.Context, s *Scene) error {
	if err := attached(ctx, s); err != nil {
		return err
	}
	if err := s.disownNear(ctx, s.V1); err != nil {
		return err
	}
	for _, stale := range s.Stale {
		if _, err := s.WaitOrphan(ctx, stale, Patience); err != nil {
			return err
		}
	}
	return nil
}

// Unreachable is O11: the instance manager does not answer while its orphans are being deleted, and then does again.
func Unreachable() Scenario {
	return Scenario{
		ID: "O11", Sentence: "the instance manager is unreachable for a while: the orphan waits, reports it, and is completed later",
		Setup: orphanedNear,
		Act: func(ctx context.Context, s *Scene) error {
			for _, stale := range s.Stale {
				s.Allow(stale, true)
			}
			if err := s.Hang(ctx, Near); err != nil {
				return err
			}
			for _, stale := range s.Stale {
				if err := s.DeleteOrphan(ctx, stale.Orphan()); err != nil {
					return err
				}
				if err := s.WaitCondition(ctx, stale.Orphan(), v1beta2.OrphanCleanupFailed, v1beta2.ConditionTrue,
					v1beta2.ReasonUnreachable, Patience); err != nil {
					return err
				}
			}
			return s.Heal(ctx)
		},
		End: func(ctx context.Context, s *Scene) error { return s.allEnded(ctx) },
	}
}

// UnknownIsNotEmpty is the core of O16: the instances of an instance manager cannot be listed for a while.
func UnknownIsNotEmpty() Scenario {
	return Scenario{
		ID: "O16", Sentence: "instances cannot be listed for a while: no orphan is created or ended",
		Setup: orphanedNear,
		Act: func(ctx context.Context, s *Scene) error {
			if err := s.Part(ctx, Near); err != nil {
				return err
			}
			return s.Never(ctx, "the end of an orphan", staleTime, func(ctx context.Context) (string, error) {
				for _, stale := range s.Stale {
					orphan, err := s.OrphanOf(ctx, stale.Name, stale.InstanceManager)
					if err != nil {
						return "", err
					}
					if orphan == nil {
						return stale.Name + " has none any more", nil
					}
					if conditions.IsTrue(orphan.Status.Conditions, v1beta2.OrphanWithdrawn) {
						return "that of " + stale.Name + " was withdrawn", nil
					}
				}
				return "", nil
			})
		},
		End: func(ctx context.Context, s *Scene) error {
			if err := s.Heal(ctx); err != nil {
				return err
			}
			for _, stale := range s.Stale {
				if _, err := s.WaitOrphan(ctx, stale, Patience); err != nil {
					return err
				}
				s.MayStay[stale.Orphan()] = true
				if err := s.Runs(ctx, stale.InstanceManager, stale.Name); err != nil {
					return fmt.Errorf("after the outage: %w", err)
				}
			}
			return s.OrphansAre(ctx, s.Stale)
		},
	}
}
