package instancecontroller

import (
	"context"
	"fmt"
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
// on a node that is out was concluded to be fenced before its object could go. What a server had when it was lost may still run.
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
		for _, list := range append(s.listing(name), lost...) {
			if !alive(list.Instances.At(name).State) {
				continue
			}
			where := list.InstanceManager
			if _, answers := s.store.Latest(where); !answers {
				where += " (which does not answer)"
			}
			var at instance.Node
			if _, err := s.nodeFacts(ctx, list.Node, &at); err != nil {
				return nil, err
			}
			if !at.Out() {
				out = append(out, fmt.Sprintf("Engine %s on %s", name, where))
			}
		}
	}
	return out, nil
}

// listing are the latest lists that have a name.
func (s *base) listing(name string) (out []*inventory.Snapshot) {
	for _, im := range s.store.Holders(name) {
		if list, ok := s.store.Latest(im); ok {
			out = append(out, list)
		}
	}
	return out
}

func alive(state string) bool {
	switch state {
	case v1beta2.InstanceStateRunning, v1beta2.InstanceStateSuspended, v1beta2.InstanceStateStarting, v1beta2.InstanceStatePending:
		return true
	}
	return false
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
