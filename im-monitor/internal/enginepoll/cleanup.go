package enginepoll

import (
	"context"
	"fmt"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
)

// Cleanup is what is done about the system snapshots that rebuilds leave.
type Cleanup struct {
	// On lets them be purged.
	On bool
	// PurgesPerNode is how many engines of a node may merge snapshots at once; 0 is no limit.
	PurgesPerNode int
}

// cleansUp reports whether system snapshots may be purged. Settings that cannot be read let nothing be purged.
func (c *Controller) cleansUp(ctx context.Context) bool {
	if c.options.Cleanup == nil {
		return false
	}
	cleanup, err := c.options.Cleanup(ctx)
	if err != nil {
		c.rt.Log.Error(err, "reading whether system snapshots are purged")
	}
	return err == nil && cleanup.On
}

// mayPurge makes sure that no other engine of the volume is to run, and that no more running engines of the node merge snapshots than may.
// Purges for deleted Snapshots have their own queue, which snapshot-controller gives by the same setting; they count here from their call
// on, or as soon as a poll sees them.
func (c *Controller) mayPurge(ctx context.Context, e *v1beta2.Engine) error {
	if err := c.onlyEngine(ctx, c.rt.Uncached, e); err != nil {
		return err
	}
	cleanup, err := c.options.Cleanup(ctx)
	if err != nil || cleanup.PurgesPerNode == 0 {
		return err
	}
	var engines v1beta2.EngineList
	if err := lookup.ListShared(ctx, c.rt.Client, c.rt.Namespace, &engines); err != nil {
		return err
	}
	busy, since := 0, c.rt.Clock.Now().Add(-c.options.briefPurge())
	for i := range engines.Items {
		one := &engines.Items[i]
		if one.Spec.NodeID == e.Spec.NodeID && one.Name != e.Name && runs(one) &&
			(v1beta2.IsPurging(one.Status.PurgeStatus) || c.memory.purgedAfter(one.Name, since)) {
			busy++
		}
	}
	if busy >= cleanup.PurgesPerNode {
		return fmt.Errorf("%d engines of node %s merge snapshots, and %d may at once", busy, e.Spec.NodeID, cleanup.PurgesPerNode)
	}
	return nil
}
