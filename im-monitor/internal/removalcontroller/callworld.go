package removalcontroller

import (
	"context"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/mappingreader"
	"drover.dev/drover/im-monitor/internal/removal"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
)

// polls are what running engines were asked right before a call, by the Engine's UID.
type polls map[types.UID]removal.Poll

// pollEngines reads the lists of nodes where an engine of the volume may run again and, where another copy is what the
// removal relies on, those of its nodes, and asks the running engines.
func (r *reconciler) pollEngines(ctx context.Context, replica *v1beta2.Replica, im string) (polls, error) {
	volume, err := r.volume(ctx, replica)
	if err != nil {
		return nil, err
	}
	nodes, known := volume.Nodes()
	if !known {
		nodes = map[string]bool{}
	}
	needsCopy := replicaOf(replica).Approval == v1beta2.ReasonHealthyCopyElsewhere
	if needsCopy {
		replicas, err := r.replicas(ctx, replica)
		if err != nil {
			return nil, err
		}
		for i := range replicas {
			if other := &replicas[i]; other.Name != replica.Name && other.Spec.NodeID != "" {
				nodes[other.Spec.NodeID] = true
			}
		}
	}
	r.mappings.Refresh(ctx, nodes, im, func(ctx context.Context, other string) { r.poll(ctx, replica, other) })
	if !needsCopy {
		return nil, nil
	}
	return r.askEngines(ctx, replica, volume), nil
}

// askEngines asks what runs. An engine that does not answer was not polled.
func (r *reconciler) askEngines(ctx context.Context, replica *v1beta2.Replica, volume mappingreader.Volume) polls {
	out := polls{}
	for i := range volume.Engines {
		e := &volume.Engines[i]
		if !runs(e) {
			continue
		}
		pollCtx, cancel := context.WithTimeout(ctx, pollTimeout)
		modes, err := r.options.Poll(pollCtx, e)
		cancel()
		if err != nil {
			r.logFor(replica).V(1).Info("an engine does not report its replicas", "engine", e.Name, "error", err.Error())
			continue
		}
		out[e.UID] = removal.Poll{Engine: e.Name, Modes: modes}
	}
	return out
}

// callWorld reads everything uncached that DecideCall asks for. Lists of other copies count only if they are newer
// than this try.
func (r *reconciler) callWorld(ctx context.Context, cached *v1beta2.Replica, since time.Time, polled polls) (removal.CallWorld, error) {
	var out removal.CallWorld
	replica, err := lookup.Shared(ctx, r.rt.Uncached, r.rt.Namespace, cached.Name, &v1beta2.Replica{})
	if err != nil || replica == nil || replica.UID != cached.UID {
		return out, err
	}
	if out.World, err = r.observe(ctx, r.rt.Uncached, replica, r.memory.Of(cached.Name)); err != nil {
		return out, err
	}
	volume, err := r.volume(ctx, replica)
	if err != nil {
		return out, err
	}
	if volume.Object != nil {
		out.Volume = &removal.Volume{UID: string(volume.Object.UID), Deleting: volume.Object.DeletionTimestamp != nil}
	}
	out.Engines = volume.Mapped()
	if out.Places, err = r.mappings.Places(ctx, replica.Name, volume); err != nil {
		return out, err
	}
	if out.World.Replica.Approval != v1beta2.ReasonHealthyCopyElsewhere {
		return out, nil
	}
	out.Polls = pollsOf(volume, polled)
	out.Copies, err = r.copies(ctx, replica, since)
	return out, err
}

func (r *reconciler) volume(ctx context.Context, replica *v1beta2.Replica) (mappingreader.Volume, error) {
	name := replica.Spec.VolumeName
	return r.mappings.Volume(ctx, r.rt.Uncached, mappingreader.OfVolume(name), name)
}

func (r *reconciler) replicas(ctx context.Context, replica *v1beta2.Replica) ([]v1beta2.Replica, error) {
	var list v1beta2.ReplicaList
	name := replica.Spec.VolumeName
	if err := r.rt.Uncached.List(ctx, &list, client.InNamespace(r.rt.Namespace), mappingreader.OfVolume(name)); err != nil {
		return nil, fmt.Errorf("listing replicas of volume %s: %w", name, err)
	}
	return list.Items, nil
}

// pollsOf are the polls that were just taken of engines that still run.
func pollsOf(volume mappingreader.Volume, polled polls) []removal.Poll {
	var out []removal.Poll
	for i := range volume.Engines {
		e := &volume.Engines[i]
		if poll, ok := polled[e.UID]; ok && runs(e) {
			out = append(out, poll)
		}
	}
	return out
}

func runs(e *v1beta2.Engine) bool {
	return e.DeletionTimestamp == nil && e.Status.CurrentState == v1beta2.InstanceStateRunning
}

// copies are the other replicas of the volume.
func (r *reconciler) copies(ctx context.Context, replica *v1beta2.Replica, since time.Time) ([]removal.Copy, error) {
	replicas, err := r.replicas(ctx, replica)
	if err != nil {
		return nil, err
	}
	var out []removal.Copy
	for i := range replicas {
		other := &replicas[i]
		if other.Name == replica.Name || other.Spec.VolumeName != replica.Spec.VolumeName {
			continue
		}
		node, err := lookup.Shared(ctx, r.rt.Uncached, r.rt.Namespace, other.Spec.NodeID, &v1beta2.Node{})
		if err != nil {
			return nil, err
		}
		out = append(out, removal.Copy{
			Name: other.Name, Deleting: other.DeletionTimestamp != nil, Out: v1beta2.IsNodeDown(node),
			Healthy: other.Spec.FailedAt == "" && other.Spec.HealthyAt != "", Listed: r.listed(other, since),
		})
	}
	return out, nil
}

// listed reports whether a list begun since then shows a replica running where it must.
func (r *reconciler) listed(other *v1beta2.Replica, since time.Time) bool {
	for _, im := range r.store.OfNode(other.Spec.NodeID) {
		snapshot, ok := r.store.Latest(im)
		if !ok || snapshot.Began.Before(since) {
			continue
		}
		i, ok := snapshot.Instances.Find(other.Name)
		if ok && i.Type == v1beta2.InstanceTypeReplica && i.State == v1beta2.InstanceStateRunning {
			return true
		}
	}
	return false
}
