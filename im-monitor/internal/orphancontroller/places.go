package orphancontroller

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/enginename"
	"drover.dev/drover/im-monitor/internal/mappingreader"
	"drover.dev/drover/im-monitor/internal/orphan"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/copies"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/lookup"
)

// freshPlaces is how many inventories of other nodes are read again before a call. Of a volume that exists there are a
// few; where it is unknown the newest whole lists of all must do.
const freshPlaces = 4

// readVolume reads the volume uncached, and its engines from the reader.
func (s *base) readVolume(ctx context.Context, engines client.Reader, name string) (mappingreader.Volume, error) {
	var selected client.ListOption = mappingreader.OfVolume(name)
	if engines == s.client {
		selected = client.MatchingFields{kube.FieldVolume: name}
	}
	return s.mappings.Volume(ctx, engines, selected, name)
}

func volumeName(instance string, replica *orphan.Claim) string {
	if replica != nil && replica.VolumeName != "" {
		return replica.VolumeName
	}
	if volume := orphan.VolumeOf(instance); lookup.Nameable(volume) {
		return volume
	}
	return ""
}

// refreshPlaces reads the few inventories again that matter most where data may be destroyed. One that cannot be read is
// unknown afterwards, which the check sees.
func (r *executor) refreshPlaces(ctx context.Context, key orphan.Key, o *v1beta2.Orphan) error {
	if o.Spec.DataEngine != v1beta2.DataEngineV2 || o.Spec.OrphanType == v1beta2.OrphanTypeEngineInstance {
		return nil
	}
	replica, err := lookup.Shared(ctx, r.client, r.namespace, key.Name, &v1beta2.Replica{})
	if err != nil || (replica != nil && replica.Spec.NodeID == o.Spec.NodeID) {
		return err
	}
	volume, err := r.readVolume(ctx, r.client, volumeName(key.Name, replicaClaim(replica)))
	if err != nil {
		return err
	}
	nodes, known := volume.Nodes()
	if !known || len(nodes) > freshPlaces {
		return nil
	}
	r.mappings.Refresh(ctx, nodes, key.InstanceManager, func(ctx context.Context, im string) {
		if _, err := r.guard.Fresh(ctx, im); err != nil {
			r.logFor(key).V(1).Info("no fresh list of another node", "other", im, "error", err.Error())
		}
	})
	return nil
}

// callWorld reads what DecideCall asks for beside the World. Engines need none of it, and of v1 replicas only a policy
// that may take the last copy.
func (r *executor) callWorld(ctx context.Context, seen scene) (orphan.CallWorld, error) {
	w := seen.world
	out := orphan.CallWorld{World: w, Orphan: w.Orphans[0]}
	v2 := w.Manager.DataEngine == v1beta2.DataEngineV2
	last := out.Orphan.ByPolicy() && !orphan.DataClaimed(w)
	if w.Inventory.Instance.Type != v1beta2.InstanceTypeReplica || (!v2 && !last) {
		return out, nil
	}
	volume, err := r.readVolume(ctx, r.uncached, volumeName(w.Key.Name, w.Replica))
	if err != nil {
		return out, err
	}
	out.Engines = volume.Mapped()
	if v2 {
		if out.Places, err = r.mappings.Places(ctx, w.Key.Name, volume); err != nil {
			return out, err
		}
	}
	if last {
		out.Copies, err = r.copies(ctx, w.Key, volume)
	}
	return out, err
}

// copies counts the other healthy replicas of the volume, and reports whether a copy is still needed.
func (r *executor) copies(ctx context.Context, key orphan.Key, volume mappingreader.Volume) (orphan.Copies, error) {
	out := orphan.Copies{Volume: volume.Name, Exists: volume.Object != nil}
	if volume.Name == "" {
		return out, nil
	}
	var list v1beta2.ReplicaList
	if err := r.uncached.List(ctx, &list, client.InNamespace(r.namespace), mappingreader.OfVolume(volume.Name)); err != nil {
		return out, fmt.Errorf("listing replicas of volume %s: %w", volume.Name, err)
	}
	for i := range list.Items {
		replica := &list.Items[i]
		if replica.Name == key.Name {
			continue
		}
		node, err := lookup.Shared(ctx, r.uncached, r.namespace, replica.Spec.NodeID, &v1beta2.Node{})
		if err != nil {
			return out, err
		}
		if copies.Whole(replica, node) && (copies.InUse(replica.Name, volume.Engines) || r.listed(replica)) {
			out.Healthy++
		}
	}
	if out.Exists {
		return out, nil
	}
	var err error
	out.Exists, err = r.handles.has(ctx, volume.Name)
	return out, err
}

// mayUse returns an engine that may use a v1 replica whose object is stopped: a list shows the engine, and no object that it has begun. The
// deletion of a v1 process keeps its data, but later writes of the engine are in its other replicas alone.
func (s *base) mayUse(ctx context.Context, w orphan.World) (string, error) {
	if w.Replica == nil || w.Manager == nil || w.Manager.DataEngine == v1beta2.DataEngineV2 || w.Inventory == nil ||
		w.Inventory.Instance == nil || w.Replica.CurrentState != v1beta2.InstanceStateStopped {
		return "", nil
	}
	var engines v1beta2.EngineList
	volume := client.MatchingFields{kube.FieldVolume: w.Replica.VolumeName}
	if err := lookup.ListShared(ctx, s.client, s.namespace, &engines, volume); err != nil {
		return "", err
	}
	hasBegun := func(e *v1beta2.Engine) bool {
		return e.Status.CurrentState != "" && e.Status.CurrentState != v1beta2.InstanceStateStopped
	}
	for name := range enginename.Unaccounted(w.Replica.VolumeName, engines.Items, hasBegun, enginename.All) {
		if holders := s.store.Holders(name); len(holders) > 0 {
			return fmt.Sprintf("engine %s on %s", name, holders[0]), nil
		}
	}
	return "", nil
}

// listed reports whether the newest list of an instance manager of the replica's node shows exactly its instance.
func (r *executor) listed(replica *v1beta2.Replica) bool {
	for _, im := range r.store.OfNode(replica.Spec.NodeID) {
		snapshot, ok := r.store.Latest(im)
		if !ok {
			continue
		}
		i, ok := snapshot.Instances.Find(replica.Name)
		if ok && i.UUID != "" && i.UUID == replica.Status.UUID && i.State == v1beta2.InstanceStateRunning {
			return true
		}
	}
	return false
}
