package controller

import (
	"context"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/orphan-controller/internal/orphan"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/copies"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
)

// ofVolume finds the objects that name a volume: the cache knows indexes, the API server fields.
func ofVolume(reader source, volume string) client.ListOption {
	if reader.live {
		return client.MatchingFields{"spec.volumeName": volume}
	}
	return client.MatchingFields{kube.FieldVolume: volume}
}

func (o observer) readEngines(ctx context.Context, reader source, volume string) ([]v1beta2.Engine, error) {
	var engines v1beta2.EngineList
	err := lookup.List(ctx, reader, o.namespace, &engines, ofVolume(reader, volume))
	return engines.Items, err
}

// usesUnnamed is the first running engine that uses the instance, or a replica of which only the address is known.
func usesUnnamed(engines []v1beta2.Engine, instance string) string {
	for i := range engines {
		if engines[i].Status.CurrentState != v1beta2.InstanceStateRunning {
			continue
		}
		for replica, mode := range engines[i].Status.ReplicaModeMap {
			if (replica == instance || strings.HasPrefix(replica, v1beta2.UnnamedReplica)) && mode != v1beta2.ReplicaModeERR {
				return engines[i].Name
			}
		}
	}
	return ""
}

// readHealth finds out which copies exist.
func (o observer) readHealth(ctx context.Context, reader source, engines []v1beta2.Engine, of []orphan.Copy) (err error) {
	for i := range of {
		c := &of[i]
		c.InUse = copies.InUse(c.Replica.Name, engines)
		if c.Listed, err = o.listed(ctx, reader, c.Replica); err != nil {
			return err
		}
	}
	return nil
}

// listed reports whether an instance manager of the replica's node lists exactly its instance. The cache keeps no lists:
// an instance that the cache shows as running counts as listed, and the uncached read before a deletion checks it.
func (o observer) listed(ctx context.Context, reader source, r *v1beta2.Replica) (bool, error) {
	if !reader.live || r.Status.UUID == "" || r.Spec.NodeID == "" {
		return !reader.live && r.Status.CurrentState == v1beta2.InstanceStateRunning, nil
	}
	var managers v1beta2.InstanceManagerList
	err := lookup.List(ctx, reader, o.namespace, &managers, client.MatchingFields{"spec.nodeID": r.Spec.NodeID})
	if err != nil {
		return false, err
	}
	for i := range managers.Items {
		entry, ok := managers.Items[i].Status.InstanceReplicas[r.Name]
		if ok && entry.Status.UUID == r.Status.UUID && entry.Status.State == v1beta2.InstanceStateRunning {
			return true, nil
		}
	}
	return false, nil
}
