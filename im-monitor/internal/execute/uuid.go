package execute

import (
	"context"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/shared/api/v1beta2"
)

// SameUUID reads the UUID of an instance again where it was read from the head lvol: such a server does not compare the UUID of a deletion
// itself. It stops the try unless the UUID is still the given one.
func (g *Guard) SameUUID(ctx context.Context, instanceManager string, seen imclient.Instance, uuid string) Stop {
	if seen.UUIDSource != imclient.UUIDFromHeadLvol {
		return Stop{}
	}
	client, _, ok := g.Store.Client(instanceManager)
	if !ok {
		return Fail(v1beta2.ReasonUnreachable, "%s is not connected.", instanceManager)
	}
	listCtx, cancel := context.WithTimeout(ctx, ReadToCall)
	defer cancel()
	list, err := client.List(listCtx, imclient.CauseFresh, nil)
	if err != nil {
		return Fail(v1beta2.ReasonUnreachable, "%s does not report the UUID of %s any more: %v.", instanceManager, seen.Name, err)
	}
	if now := list[seen.Name].UUID; now == "" || now != uuid {
		// The inventory learns the same, and enqueues whom it concerns. Without a list it is unknown, which does so, too.
		_, _ = g.Fresh(ctx, instanceManager)
		return Stop{Result: Disagreed}
	}
	return Stop{}
}
