package instancecontroller

import (
	"context"
	"fmt"
	"slices"
	"strconv"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/enginename"
	"drover.dev/drover/im-monitor/internal/instance"
	"drover.dev/drover/im-monitor/internal/instancemanager"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/startfacts"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
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
		peers.Same, peers.Leftovers, err = s.same(groupCtx, key, volume, w.Object.DataEngine)
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
func (s *base) same(ctx context.Context, key Key, volume, dataEngine string) (same []instance.Peer, leftovers []string, err error) {
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
		leftovers, err := s.leftovers(ctx, volume, key.Name, dataEngine, names)
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

// earlier is how many earlier engines of a volume are searched: each is a lookup.
const earlier = 64

// leftovers finds live engines under the names that the volume's engines had: the earlier numbers, and one more than this engine's.
func (s *base) leftovers(ctx context.Context, volume, own, dataEngine string, objects map[string]bool) ([]string, error) {
	last, err := strconv.Atoi(own[min(len(volume)+len("-e-"), len(own)):])
	if err != nil {
		return nil, nil // a name of another form has no other numbers
	}
	lost := s.store.Lost()
	out, err := s.silentPods(ctx, dataEngine, lost)
	if err != nil {
		return nil, err
	}
	for n := max(0, last-earlier); n <= last+1; n++ {
		if n < 0 {
			break // the largest number has none after it
		}
		name := enginename.Of(volume, n)
		if objects[name] {
			continue
		}
		found, err := s.sightings(ctx, name, lost)
		if err != nil {
			return nil, err
		}
		for _, at := range found {
			out = append(out, fmt.Sprintf("Engine %s on %s", name, at))
		}
	}
	return out, nil
}

// mayUse finds, for a replica that runs and is to end, an engine of its volume that a list shows and no object accounts for: it has no
// object, or its object reports that it never began. If the object has begun, attach-controller takes a replica out of the engine first.
func (s *base) mayUse(ctx context.Context, key Key, w *instance.World) error {
	listed := func(p instance.Place) bool { return p.Entry != nil && alive(p.Entry.State) }
	runs := w.Here != nil && listed(*w.Here) || slices.ContainsFunc(w.Elsewhere, listed)
	if key.Kind != v1beta2.InstanceTypeReplica || !runs || w.Object.Running && w.Status.Begun() {
		return nil
	}
	var engines v1beta2.EngineList
	volume := client.MatchingFields{kube.FieldVolume: w.Object.Volume}
	if err := lookup.ListShared(ctx, s.rt.Client, s.rt.Namespace, &engines, volume); err != nil {
		return err
	}
	hasBegun := func(e *v1beta2.Engine) bool {
		_, status := read(e)
		return status.Begun()
	}
	lost := s.store.Lost()
	for name := range enginename.Unaccounted(w.Object.Volume, engines.Items, hasBegun, earlier) {
		found, err := s.sightings(ctx, name, lost)
		if err != nil {
			return err
		}
		if len(found) > 0 && !s.mapsOthers(name, key.Name) {
			w.MayUse = fmt.Sprintf("Engine %s on %s", name, found[0])
			return nil
		}
	}
	return nil
}

// mapsOthers reports whether every list that has an engine shows its replicas, and this one is not among them.
func (s *base) mapsOthers(engine, replica string) bool {
	holders := s.store.Holders(engine)
	return len(holders) > 0 && !slices.ContainsFunc(holders, func(im string) bool {
		list, ok := s.store.Latest(im)
		if !ok {
			return true
		}
		mapped := list.Instances.At(engine).Replicas
		_, uses := mapped[replica]
		return mapped == nil || uses
	})
}

// runsNowhere reports whether no list and no status has an engine, and every pod that may run it is read. Its object is stopped, or gone.
func (s *base) runsNowhere(ctx context.Context, name, dataEngine string) (bool, error) {
	if len(s.store.Holders(name)) > 0 {
		return false, nil
	}
	lost := s.store.Lost()
	silent, err := s.silentPods(ctx, dataEngine, lost)
	if err != nil || len(silent) > 0 {
		return false, err
	}
	found, err := s.sightings(ctx, name, lost)
	return len(found) == 0, err
}

// silentPods returns the pods that deleted InstanceManagers left and that this process has read no list from: any engine may run there. A
// pod on a node that is out does not count.
func (s *base) silentPods(ctx context.Context, dataEngine string, lost []*inventory.Snapshot) (out []string, err error) {
	var pods corev1.PodList
	if err := lookup.ListShared(ctx, s.rt.Client, s.rt.Namespace, &pods); err != nil {
		return nil, err
	}
	for i := range pods.Items {
		pod := &pods.Items[i]
		ended := instancemanager.PodEnded(pod) || instancemanager.NeverStarted(pod)
		if ended || !serves(instancemanager.Of(pod), dataEngine) || s.isRead(pod.Name, lost) {
			continue
		}
		im, _, err := s.manager(ctx, pod.Name)
		if err != nil {
			return nil, err
		}
		isOut, err := s.isOut(ctx, pod.Spec.NodeName)
		if err != nil {
			return nil, err
		}
		if im == nil && !isOut {
			out = append(out, fmt.Sprintf("An engine in pod %s, which a deleted InstanceManager left and which does not answer,", pod.Name))
		}
	}
	return out, nil
}

// isRead reports whether this process has read a list of the instance manager as it runs now.
func (s *base) isRead(instanceManager string, lost []*inventory.Snapshot) bool {
	_, answers := s.store.Latest(instanceManager)
	return answers || slices.ContainsFunc(lost, func(list *inventory.Snapshot) bool { return list.InstanceManager == instanceManager })
}

func (s *base) isOut(ctx context.Context, node string) (bool, error) {
	var at instance.Node
	_, err := s.nodeFacts(ctx, node, &at)
	return at.Out(), err
}

// sightings are the instance managers that have a live engine of a name, as far as is known: by the latest lists; by the last list of each
// server that does not answer any more; and by the status of each one that this process has read no list of. An engine on a node that is
// out does not count: it was concluded to be fenced before its object could go.
func (s *base) sightings(ctx context.Context, name string, lost []*inventory.Snapshot) (out []string, err error) {
	see := func(where, instanceManager, node string) error {
		isOut, err := s.isOut(ctx, node)
		if err != nil || isOut {
			return err
		}
		im, _, err := s.manager(ctx, instanceManager)
		if im == nil {
			where = "pod " + where + ", which a deleted InstanceManager left,"
		}
		out = append(out, where)
		return err
	}
	for _, im := range s.store.Holders(name) {
		if list, ok := s.store.Latest(im); ok && alive(list.Instances.At(name).State) {
			if err := see(im, im, list.Node); err != nil {
				return nil, err
			}
		}
	}
	for _, list := range lost {
		if alive(list.Instances.At(name).State) {
			if err := see(list.InstanceManager+" (which does not answer)", list.InstanceManager, list.Node); err != nil {
				return nil, err
			}
		}
	}
	var recorded v1beta2.InstanceManagerList
	if err := s.rt.Client.List(ctx, &recorded, client.InNamespace(s.rt.Namespace), client.MatchingFields{managersByEngine: name},
		client.UnsafeDisableDeepCopy); err != nil {
		return nil, fmt.Errorf("finding the instance managers that had %s: %w", name, err)
	}
	for i := range recorded.Items {
		im := &recorded.Items[i]
		if !s.isRead(im.Name, lost) && alive(im.Status.InstanceEngines[name].Status.State) {
			if err := see(im.Name+" (whose server has not answered yet)", im.Name, im.Spec.NodeID); err != nil {
				return nil, err
			}
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
