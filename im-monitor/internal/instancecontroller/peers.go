package instancecontroller

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/instance"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/startfacts"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
)

// readReplicas reads the volume's replicas uncached: no instance is concluded to be fenced from a cache.
func (s *base) readReplicas(ctx context.Context, w *instance.World) error {
	replicas, err := s.replicasOf(ctx, w.Object.Volume)
	if err != nil {
		return err
	}
	w.Peers = instance.Peers{Read: true, Replicas: replicas}
	return nil
}

// readVolume reads the volume, what its instances are started with, and its other engines, or frontends, uncached: what speaks for starting
// one more is asked of the API server. Replicas are not started one after the other.
func (s *base) readVolume(ctx context.Context, key Key, w *instance.World) error {
	volume := w.Object.Volume
	if key.Kind == v1beta2.InstanceTypeReplica {
		v, err := s.facts().Volume(ctx, volume)
		w.VolumeRead, w.Volume = err == nil, (*instance.Volume)(v)
		return err
	}
	var peers instance.Peers
	var facts *startfacts.Volume
	group, groupCtx := errgroup.WithContext(ctx)
	group.Go(func() (err error) {
		peers.Same, peers.Leftovers, err = s.same(groupCtx, key, volume)
		return err
	})
	group.Go(func() (err error) {
		if key.Kind == v1beta2.InstanceTypeEngine && !w.Object.Active && w.Object.DataEngine != v1beta2.DataEngineV2 {
			peers.SameData, err = s.sameData(groupCtx, volume)
		}
		return err
	})
	group.Go(func() error {
		v, err := lookup.Shared(groupCtx, s.rt.Uncached, s.rt.Namespace, volume, &v1beta2.Volume{})
		if err == nil && v != nil {
			peers.Migrating = v.Spec.MigrationNodeID != "" || v.Status.CurrentMigrationNodeID != ""
			peers.Targets = []string{v.Spec.TargetNodeID, v.Spec.NodeID}
			facts = startfacts.Of(v)
		}
		return err
	})
	if err := group.Wait(); err != nil {
		return err
	}
	peers.Read = true
	w.Peers, w.VolumeRead, w.Volume = peers, true, (*instance.Volume)(facts)
	return nil
}

// same are the other engines, or frontends, of the volume. leftovers are engines that run under names of the volume without an object.
func (s *base) same(ctx context.Context, key Key, volume string) (same []instance.Peer, leftovers []string, err error) {
	switch key.Kind {
	case v1beta2.InstanceTypeEngine:
		var list v1beta2.EngineList
		if err := s.listUncached(ctx, &list, volume); err != nil {
			return nil, nil, err
		}
		names := map[string]bool{key.Name: true}
		for i := range list.Items {
			e := &list.Items[i]
			names[e.Name] = true
			if e.Name != key.Name && e.Spec.VolumeName == volume {
				same = append(same, peer(e, e.Status.ReplicaModeMap))
			}
		}
		leftovers, err := s.leftovers(ctx, volume, key.Name, names)
		return same, leftovers, err
	case v1beta2.InstanceTypeEngineFrontend:
		var list v1beta2.EngineFrontendList
		if err := s.listUncached(ctx, &list, volume); err != nil {
			return nil, nil, err
		}
		for i := range list.Items {
			if f := &list.Items[i]; f.Name != key.Name && f.Spec.VolumeName == volume {
				same = append(same, peer(f, nil))
			}
		}
	}
	return same, nil, nil
}

// earlier is how many earlier engines of a volume are searched: each is a lookup, and a number is what a name reports.
const earlier = 64

// leftovers finds live engines under the names that the volume's engines had: the earlier numbers, and one more than this engine's. One
// on a node that is out was concluded to be fenced before its object could go.
func (s *base) leftovers(ctx context.Context, volume, own string, objects map[string]bool) ([]string, error) {
	last, err := strconv.Atoi(own[min(len(volume)+len("-e-"), len(own)):])
	if err != nil {
		return nil, nil // a name of another form has no other numbers
	}
	var out []string
	lost := s.store.Lost()
	for n := max(0, last-earlier); n <= last+1; n++ {
		if n < 0 {
			break // the largest number has none after it
		}
		name := fmt.Sprintf("%s-e-%d", volume, n)
		if objects[name] {
			continue
		}
		found, err := s.sightings(ctx, name, lost)
		if err != nil {
			return nil, err
		}
		for _, at := range found {
			var node instance.Node
			if _, err := s.nodeFacts(ctx, at.node, &node); err != nil {
				return nil, err
			}
			if !node.Out() {
				out = append(out, fmt.Sprintf("Engine %s on %s", name, at.where))
			}
		}
	}
	return out, nil
}

// sighting is an instance manager that has a live engine, as far as is known, and its node.
type sighting struct{ where, node string }

// sightings are those of a name: in the latest lists; in the last one of each server that does not answer any more; and, of one that this
// process has read no list of, in its status.
func (s *base) sightings(ctx context.Context, name string, lost []*inventory.Snapshot) (out []sighting, err error) {
	for _, im := range s.store.Holders(name) {
		if list, ok := s.store.Latest(im); ok && alive(list.Instances.At(name).State) {
			out = append(out, sighting{im, list.Node})
		}
	}
	for _, list := range lost {
		if alive(list.Instances.At(name).State) {
			out = append(out, sighting{list.InstanceManager + " (which does not answer)", list.Node})
		}
	}
	var recorded v1beta2.InstanceManagerList
	if err := s.rt.Client.List(ctx, &recorded, client.InNamespace(s.rt.Namespace), client.MatchingFields{managersByEngine: name},
		client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("finding the instance managers that had %s: %w", name, err)
	}
	for i := range recorded.Items {
		im := &recorded.Items[i]
		_, answers := s.store.Latest(im.Name)
		read := answers || slices.ContainsFunc(lost, func(list *inventory.Snapshot) bool { return list.InstanceManager == im.Name })
		if !read && alive(im.Status.InstanceEngines[name].Status.State) {
			out = append(out, sighting{im.Name + " (whose server has not answered yet)", im.Spec.NodeID})
		}
	}
	return out, nil
}

func alive(state string) bool {
	switch state {
	case v1beta2.InstanceStateRunning, v1beta2.InstanceStateSuspended, v1beta2.InstanceStateStarting, v1beta2.InstanceStatePending:
		return true
	}
	return false
}

// sameData returns, by the name of each replica of the volume, the others over its v1 directory.
func (s *base) sameData(ctx context.Context, volume string) (map[string][]string, error) {
	var list v1beta2.ReplicaList
	if err := s.listUncached(ctx, &list, volume); err != nil {
		return nil, err
	}
	out := map[string][]string{}
	for i := range list.Items {
		for j := range list.Items {
			if i != j && v1beta2.HasSameDirectory(&list.Items[i], &list.Items[j]) {
				out[list.Items[i].Name] = append(out[list.Items[i].Name], list.Items[j].Name)
			}
		}
	}
	return out, nil
}

func (s *base) replicasOf(ctx context.Context, volume string) ([]instance.Peer, error) {
	var list v1beta2.ReplicaList
	if err := s.listUncached(ctx, &list, volume); err != nil {
		return nil, err
	}
	var out []instance.Peer
	for i := range list.Items {
		r := &list.Items[i]
		if r.Spec.VolumeName != volume {
			continue
		}
		p := peer(r, nil)
		var at instance.Node
		if _, err := s.nodeFacts(ctx, r.Spec.NodeID, &at); err != nil {
			return nil, err
		}
		p.On = r.Spec.NodeID != "" && !at.Out()
		out = append(out, p)
	}
	return out, nil
}

func (s *base) listUncached(ctx context.Context, list client.ObjectList, volume string) error {
	if err := s.rt.Uncached.List(ctx, list, client.InNamespace(s.rt.Namespace), ofVolume(volume)); err != nil {
		return fmt.Errorf("listing %T of volume %s: %w", list, volume, err)
	}
	return nil
}

func peer(o client.Object, modes map[string]string) instance.Peer {
	object, status := read(o)
	return instance.Peer{Name: object.Name, State: status.State, Wanted: object.Running, Begun: status.Begun(),
		NodeDown: status.NodeDown != "", Modes: modes}
}
