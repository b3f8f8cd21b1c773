package orphancontroller

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/orphan"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// freshPlaces is how many inventories of other nodes are read anew before a call. Of a volume that exists there are a
// few; where it is unknown the newest whole lists of all must do.
const freshPlaces = 4

// volumeDetached is the state of a volume none of whose replicas runs.
const volumeDetached = "detached"

// volumeScene is what is read about an instance's volume.
type volumeScene struct {
	name    string
	volume  *v1beta2.Volume
	engines []v1beta2.Engine
}

// readVolume reads the volume past the cache, and its engines from the reader.
func (s *shell) readVolume(ctx context.Context, engines client.Reader, name string) (volumeScene, error) {
	out := volumeScene{name: name}
	if name == "" {
		return out, nil
	}
	var err error
	if out.volume, err = get(ctx, s.uncached, s.namespace, name, &v1beta2.Volume{}); err != nil {
		return out, err
	}
	var selected client.ListOption = ofVolume(name)
	if engines == s.client {
		selected = client.MatchingFields{byVolume: name}
	}
	var list v1beta2.EngineList
	if err := engines.List(ctx, &list, client.InNamespace(s.namespace), selected); err != nil {
		return out, fmt.Errorf("listing engines of volume %s: %w", name, err)
	}
	out.engines = list.Items
	return out, nil
}

func volumeName(instance string, replica *orphan.Claim) string {
	if replica != nil && replica.VolumeName != "" {
		return replica.VolumeName
	}
	if volume := orphan.VolumeOf(instance); nameable(volume) {
		return volume
	}
	return ""
}

func ofVolume(volume string) client.MatchingLabels {
	return client.MatchingLabels{v1beta2.LabelVolume: v1beta2.VolumeLabelValue(volume)}
}

// nodes are those that may run an engine of the volume; known is false when all may.
func (v volumeScene) nodes() (nodes map[string]bool, known bool) {
	if v.volume == nil {
		return nil, false
	}
	nodes = map[string]bool{}
	for _, n := range []string{
		v.volume.Spec.NodeID, v.volume.Spec.EngineNodeID, v.volume.Spec.MigrationNodeID, v.volume.Spec.TargetNodeID,
		v.volume.Status.CurrentNodeID, v.volume.Status.CurrentEngineNodeID, v.volume.Status.CurrentMigrationNodeID, v.volume.Status.CurrentTargetNodeID,
	} {
		nodes[n] = true
	}
	for _, e := range v.engines {
		nodes[e.Spec.NodeID] = true
	}
	delete(nodes, "")
	return nodes, true
}

// refreshPlaces reads the few inventories anew that matter most where data may be destroyed. One that cannot be read is
// unknown afterwards, which the check sees.
func (r *hands) refreshPlaces(ctx context.Context, key orphan.Key, o *v1beta2.Orphan) error {
	if o.Spec.DataEngine != v1beta2.DataEngineV2 || o.Spec.OrphanType != v1beta2.OrphanTypeReplicaInstance {
		return nil
	}
	replica, err := get(ctx, r.client, r.namespace, key.Name, &v1beta2.Replica{})
	if err != nil || (replica != nil && replica.Spec.NodeID == o.Spec.NodeID) {
		return err
	}
	volume, err := r.readVolume(ctx, r.client, volumeName(key.Name, replicaClaim(replica)))
	if err != nil {
		return err
	}
	nodes, known := volume.nodes()
	if !known || len(nodes) > freshPlaces {
		return nil
	}
	group, ctx := errgroup.WithContext(ctx)
	for node := range nodes {
		for _, im := range r.store.OfNode(node) {
			if target, ok := r.store.Target(im); !ok || target.DataEngine != v1beta2.DataEngineV2 || im == key.InstanceManager {
				continue
			}
			group.Go(func() error {
				listCtx, cancel := context.WithTimeout(ctx, listTimeout)
				defer cancel()
				if _, err := r.store.Fresh(listCtx, im); err != nil {
					r.logFor(key).V(1).Info("no fresh list of another node", "other", im, "error", err.Error())
				}
				return nil
			})
		}
	}
	return group.Wait()
}

// callWorld reads what DecideCall asks for beside the World. Engines need none of it, and of v1 replicas only a policy
// that may take the last copy.
func (r *hands) callWorld(ctx context.Context, seen scene) (orphan.CallWorld, error) {
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
	for i := range volume.engines {
		out.Engines = append(out.Engines, engineObject(&volume.engines[i]))
	}
	if v2 {
		if out.Places, err = r.places(ctx, w.Key, volume); err != nil {
			return out, err
		}
	}
	if last {
		out.Copies, err = r.copies(ctx, w.Key, volume)
	}
	return out, err
}

func engineObject(e *v1beta2.Engine) orphan.EngineObject {
	out := orphan.EngineObject{Name: e.Name, Replicas: map[string]string{},
		Running: e.Spec.DesireState == v1beta2.InstanceStateRunning || e.Status.CurrentState != v1beta2.InstanceStateStopped}
	for name := range e.Status.ReplicaModeMap {
		out.Replicas[name] = ""
	}
	for _, m := range []map[string]string{e.Spec.ReplicaAddressMap, e.Spec.UpgradedReplicaAddressMap, e.Status.CurrentReplicaAddressMap} {
		for name, address := range m {
			out.Replicas[name] = address
		}
	}
	return out
}

// mapping finds the engine of an inventory that maps the replica. An engine whose map is not told may map anything.
func mapping(place *orphan.Place, snapshot *inventory.Snapshot, replica string) {
	place.Known = true
	for _, i := range snapshot.Instances {
		if i.Type != v1beta2.InstanceTypeEngine {
			continue
		}
		if i.Replicas == nil {
			place.Known = false
		}
		if address, ok := i.Replicas[replica]; ok && (place.MappedBy == "" || i.Name < place.MappedBy) {
			place.MappedBy, place.MappedAddress = i.Name, address
		}
	}
	place.Known = place.Known || place.MappedBy != ""
}

// copies counts the other healthy replicas of the volume, and tells whether anybody still needs one.
func (r *hands) copies(ctx context.Context, key orphan.Key, volume volumeScene) (orphan.Copies, error) {
	out := orphan.Copies{Volume: volume.name, Exists: volume.volume != nil}
	if volume.name == "" {
		return out, nil
	}
	var list v1beta2.ReplicaList
	if err := r.uncached.List(ctx, &list, client.InNamespace(r.namespace), ofVolume(volume.name)); err != nil {
		return out, fmt.Errorf("listing replicas of volume %s: %w", volume.name, err)
	}
	for i := range list.Items {
		replica := &list.Items[i]
		if replica.Name == key.Name {
			continue
		}
		node, err := get(ctx, r.uncached, r.namespace, replica.Spec.NodeID, &v1beta2.Node{})
		if err != nil {
			return out, err
		}
		if healthy(replica, node, volume.volume) {
			out.Healthy++
		}
	}
	if out.Healthy > 0 || out.Exists {
		return out, nil
	}
	var err error
	out.Exists, err = r.handles.has(ctx, volume.name)
	return out, err
}

// healthy tells whether a replica is known to be a whole copy that stays: it was rebuilt once and never failed since,
// nobody deletes it, its node is ready, and it runs, unless the volume is detached and none runs.
func healthy(r *v1beta2.Replica, node *v1beta2.Node, volume *v1beta2.Volume) bool {
	if deleting(r) || r.Spec.FailedAt != "" || r.Spec.HealthyAt == "" {
		return false
	}
	if node == nil || deleting(node) || !conditions.IsTrue(node.Status.Conditions, v1beta2.NodeReady) {
		return false
	}
	if r.Status.CurrentState == v1beta2.InstanceStateRunning {
		return true
	}
	return volume != nil && volume.Status.State == volumeDetached && r.Status.CurrentState == v1beta2.InstanceStateStopped
}
