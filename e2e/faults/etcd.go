package main

import (
	"context"
	"fmt"
	"time"

	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// restoredFor is how long the harness watches after etcd was restored: several grace periods of auto deletion (restoredGrace, in seconds).
const (
	restoredFor   = 12 * time.Second
	restoredGrace = "2"
)

// etcdRestored restores etcd, after the scenario has ended, to its state after the setup, with auto deletion on: no policy deletes an
// instance that has no object and was not recorded as abandoned [ORP-5], and the World can still be emptied.
func etcdRestored(scenario scenarios.Scenario) testCase {
	return testCase{scenario: scenario, name: "etcd restored to the time before it",
		arm: func(ctx context.Context, h *harness, _ *scenarios.Scene) (func(context.Context) error, error) {
			backup, err := h.world.BackUpEtcd(ctx)
			if err != nil {
				return nil, err
			}
			return func(ctx context.Context) error { return restore(ctx, h.world, backup) }, h.world.WaitManagers(ctx, scenarios.Patience)
		}}
}

func restore(ctx context.Context, w *world.World, backup string) error {
	if err := w.RestoreEtcd(ctx, backup); err != nil {
		return err
	}
	if err := w.RestartControllers(); err != nil {
		return err
	}
	if err := w.SetAutoDeletion(ctx, "instance;replica-data", restoredGrace); err != nil {
		return err
	}
	return w.Never(ctx, "a deletion by policy of an instance that is not recorded as abandoned", restoredFor,
		func(ctx context.Context) (string, error) {
			orphans, err := w.Orphans(ctx)
			if err != nil {
				return "", err
			}
			for i := range orphans {
				if violation, err := unjustified(ctx, w, &orphans[i]); violation != "" || err != nil {
					return violation, err
				}
			}
			return "", nil
		})
}

// unjustified reports that policy approved the deletion of an instance without an object and without a record.
func unjustified(ctx context.Context, w *world.World, o *v1beta2.Orphan) (string, error) {
	name := o.Spec.Parameters[v1beta2.OrphanParameterInstanceName]
	if name == "" || !conditions.IsTrue(o.Status.Conditions, v1beta2.OrphanCleanupApproved) ||
		conditions.Get(o.Status.Conditions, v1beta2.OrphanDeletionReason) == nil {
		return "", nil
	}
	stale := world.Stale{Name: name, Type: v1beta2.InstanceTypeReplica}
	if o.Spec.OrphanType == v1beta2.OrphanTypeEngineInstance {
		stale.Type = v1beta2.InstanceTypeEngine
	}
	if _, err := w.Owner(ctx, stale); err == nil {
		return "", nil
	}
	node := &v1beta2.Node{}
	if err := w.Get(ctx, o.Spec.NodeID, node); err != nil {
		return "", err
	}
	if node.Status.AbandonedInstances[name].UUID == o.Spec.Parameters[v1beta2.OrphanParameterInstanceUUID] {
		return "", nil
	}
	return fmt.Sprintf("orphan %s of %s on %s: %s", o.Name, name, o.Spec.NodeID, world.FormatConditions(o.Status.Conditions)), nil
}
