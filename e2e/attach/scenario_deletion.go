package attach

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// A16: a volume is deleted while the node that serves it is down. No controller can list what runs there, so attach-controller records it
// before it removes the finalizers; exactly the recorded instances are deleted by policy once the node is back. [ORP-5]
func deletedWhileRelocated() scenarios.Scenario {
	return scenarios.Scenario{
		ID: "A16", Sentence: "a volume is deleted while its node is down: its instances are deleted by policy once the node is back",
		Setup: attached,
		Act: func(ctx context.Context, s *scenarios.Scene) (err error) {
			replica, err := s.ReplicaOn(ctx, s.Volume, near)
			if err != nil {
				return err
			}
			v := &world.Volume{Name: s.Volume, DataEngine: replica.Spec.DataEngine, Engine: s.Volume + "-e-0",
				Replicas: []string{replica.Name}}
			if s.Stale, err = s.World.Stale(ctx, v, near); err != nil {
				return err
			}
			if len(s.Stale) != 2 {
				return fmt.Errorf("%d instances of %s run on %s: its engine and its replica are wanted", len(s.Stale), s.Volume, near)
			}
			// A call that was on its way when the node became unreachable may still arrive when it is back. Here it must not.
			if err := s.Inject(ctx, world.Fault{Kind: "error", Code: "Unavailable", Node: near, Method: "InstanceDelete"}); err != nil {
				return err
			}
			if err := s.CutNode(ctx, near); err != nil {
				return err
			}
			if err := s.WaitNode(ctx, near, v1beta2.ConditionFalse, patience); err != nil {
				return err
			}
			if err := s.DeleteVolume(ctx, s.Volume); err != nil {
				return err
			}
			if err := s.Wait(ctx, "the end of the Engine, and the record of the instances that it leaves", patience,
				recorded(s, v.Engine)); err != nil {
				return err
			}
			if err := s.SetAutoDeletion(ctx, "instance", "0"); err != nil {
				return err
			}
			if err := s.JoinNode(ctx, near); err != nil {
				return err
			}
			return s.Heal(ctx)
		},
		End: func(ctx context.Context, s *scenarios.Scene) error {
			if err := s.WaitVolumeGone(ctx, s.Volume, patience); err != nil {
				return err
			}
			if err := s.Wait(ctx, "the end of the instances that returned with "+near, patience, func(ctx context.Context) (string, error) {
				running, err := s.Inventory(ctx, s.Stale[0].InstanceManager)
				for _, stale := range s.Stale { // its frontend stays: it cannot be distinguished from a frontend that lost its object
					if running[stale.Name].UUID == stale.UUID {
						return stale.Name + " is listed as " + running[stale.Name].State, nil
					}
				}
				return "", err
			}); err != nil {
				return err
			}
			if err := s.Wait(ctx, "the end of all orphans", patience, s.NoOrphans); err != nil {
				return err
			}
			return s.Wait(ctx, "the end of the recorded instances", patience, func(ctx context.Context) (string, error) {
				node := s.NodeObject(near)
				err := s.Get(ctx, near, node)
				return strings.Join(slices.Sorted(maps.Keys(node.Status.AbandonedInstances)), ", "), err
			})
		},
		Check: deletedOnlyByUUID,
	}
}

// recorded returns a text while the Engine exists, or while the instances that it leaves are not recorded.
func recorded(s *scenarios.Scene, engine string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		if err := s.Get(ctx, engine, &v1beta2.Engine{}); !apierrors.IsNotFound(err) {
			return engine + " is there", err
		}
		node := s.NodeObject(near)
		if err := s.Get(ctx, near, node); err != nil {
			return "", err
		}
		if node.Status.AbandonedInstances[engine].UUID != s.Stale[0].UUID {
			return fmt.Sprintf("recorded is %v", node.Status.AbandonedInstances), nil
		}
		return "", nil
	}
}

// deletedOnlyByUUID checks that each deletion named the UUID of the instance that it hit. [ORP-3]
func deletedOnlyByUUID(ctx context.Context, s *scenarios.Scene) error {
	deletions, err := s.Deletions(ctx)
	if err != nil {
		return err
	}
	for _, d := range deletions {
		for _, stale := range s.Stale {
			if d.Name == stale.Name && d.Executed && d.UUIDFound != "" && d.UUIDAsked != d.UUIDFound {
				return fmt.Errorf("ORP-3: %+v", d)
			}
		}
	}
	return nil
}
