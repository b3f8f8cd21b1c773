package upgrade

import (
	"context"
	"errors"
	"fmt"
	"time"

	"drover.dev/drover/e2e/record"
	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/upgrade/watchcheck"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

const (
	// runTime is how long an upgrade of three nodes may take while controllers crash.
	runTime = 4 * time.Minute
	// sampled selects the crash points of the other controllers: each eighth step. Every step of upgrade-controller is one.
	sampled = 8
)

// Scenarios are the scenarios of upgrades in which a controller may crash at any step.
func Scenarios() []scenarios.Scenario {
	return []scenarios.Scenario{threeNodes()}
}

// U1: three nodes, one after the other, under a volume that is written to continuously.
func threeNodes() scenarios.Scenario {
	return scenarios.Scenario{
		ID: "U1", Sentence: "three nodes are upgraded one after the other under a workload that never stops", Topology: scenarios.Upgrades,
		Point: func(s record.Step) bool { return s.Actor == world.UpgradeController || s.Own%sampled == 0 },
		Setup: written,
		Act: func(ctx context.Context, s *scenarios.Scene) (err error) {
			if s.Watch, err = watchcheck.Start(ctx, s.World, s.Volume); err != nil {
				return err
			}
			return s.Upgrade(ctx, "upgrade-of-"+s.Volume, "longhornio/longhorn-instance-manager:"+s.Volume, nil)
		},
		End: func(ctx context.Context, s *scenarios.Scene) error {
			m, err := s.WaitUpgrade(ctx, "upgrade-of-"+s.Volume, runTime, v1beta2.UpgradeStateCompleted, v1beta2.UpgradeStateError)
			if err != nil {
				return err
			}
			if m.Status.State != v1beta2.UpgradeStateCompleted || len(m.Status.UpgradedNodes) != len(scenarios.Nodes) {
				return fmt.Errorf("the upgrade is %s, %v are upgraded: %s", m.Status.State, m.Status.UpgradedNodes, m.Status.ErrorMessage)
			}
			return s.WaitRobust(ctx, s.Volume, v1beta2.VolumeRobustnessHealthy, scenarios.Patience)
		},
		Check: unharmed,
	}
}

// written is a volume with three replicas, attached near and written to continuously.
func written(ctx context.Context, s *scenarios.Scene) error {
	s.Volume = world.Unique("upgraded")
	if err := s.Order(ctx, s.Volume, v1beta2.DataEngineV2, 3, nil); err != nil {
		return err
	}
	if err := s.Attach(ctx, s.Volume, scenarios.Near, scenarios.Patience); err != nil {
		return err
	}
	if err := s.WaitRobust(ctx, s.Volume, v1beta2.VolumeRobustnessHealthy, scenarios.Patience); err != nil {
		return err
	}
	return s.WriteOn(ctx, s.Volume, 5*time.Millisecond)
}

// unharmed checks a run: no invariant was violated at any moment, no write was lost, every node is uncordoned and the target
// is on its original node.
func unharmed(ctx context.Context, s *scenarios.Scene) error {
	var watched error
	if s.Watch != nil {
		watched = s.Watch.Stop()
	}
	seen, err := s.StopWriting(ctx, s.Volume)
	if err != nil {
		return errors.Join(watched, err)
	}
	if harm := seen.Harm(); harm != "" {
		watched = errors.Join(watched, errors.New(harm))
	}
	return errors.Join(watched, s.Verify(ctx, s.Volume), s.NoHarm(ctx), allAtOriginalNode(ctx, s))
}

// allAtOriginalNode checks UPG-4.
func allAtOriginalNode(ctx context.Context, s *scenarios.Scene) error {
	for _, name := range scenarios.Nodes {
		node := &v1beta2.Node{}
		if err := s.Get(ctx, name, node); err != nil {
			return err
		}
		if node.Spec.UpgradeRequested {
			return fmt.Errorf("UPG-4: node %s is left cordoned", name)
		}
	}
	v := &v1beta2.Volume{}
	if err := s.Get(ctx, s.Volume, v); err != nil {
		return err
	}
	if v.Spec.TargetNodeID != "" || v.Status.CurrentTargetNodeID != "" {
		return fmt.Errorf("UPG-4: the target of %s is requested on %q and is on %q", v.Name, v.Spec.TargetNodeID,
			v.Status.CurrentTargetNodeID)
	}
	return nil
}
