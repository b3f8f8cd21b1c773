package orphancontroller

import (
	"context"
	"net"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/orphan"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
)

// scene is a World with the objects that it was read from, for those who write.
type scene struct {
	world   orphan.World
	manager *v1beta2.InstanceManager
	// orphans stand in the order of world.Orphans.
	orphans []*v1beta2.Orphan
}

// readers report where to read claims, and where instance managers and nodes.
type readers struct{ claims, places client.Reader }

// observe reads one key, with the Orphans as given.
func (s *base) observe(ctx context.Context, from readers, key orphan.Key, snapshot *inventory.Snapshot, orphans []*v1beta2.Orphan) (scene,
	error) {
	out := scene{orphans: orphans, world: orphan.World{Key: key, Rules: s.options.Rules}}
	s.see(&out.world, snapshot)
	var engine *v1beta2.Engine
	var replica *v1beta2.Replica
	reads := []func() error{
		func() (err error) {
			engine, err = lookup.Shared(ctx, from.claims, s.namespace, key.Name, &v1beta2.Engine{})
			return
		},
		func() (err error) {
			replica, err = lookup.Shared(ctx, from.claims, s.namespace, key.Name, &v1beta2.Replica{})
			return
		},
		func() (err error) {
			out.manager, out.world.Manager, out.world.Node, err = s.place(ctx, from.places, key)
			return
		},
	}
	if err := do(reads, from.claims != s.client); err != nil {
		return scene{}, err
	}
	out.world.Engine, out.world.Replica = engineClaim(engine), replicaClaim(replica)
	var err error
	if out.world.MayUse, err = s.mayUse(ctx, out.world); err != nil {
		return scene{}, err
	}
	out.world.Now = s.clock.Now()
	for _, o := range orphans {
		out.world.Orphans = append(out.world.Orphans, s.orphanOf(o, key.InstanceManager))
	}
	return out, nil
}

// see puts a list into a World, with what other lists report about the same instance.
func (s *base) see(w *orphan.World, snapshot *inventory.Snapshot) {
	w.Inventory, w.Duplicate = inventoryOf(snapshot, w.Key.Name), ""
	if snapshot == nil {
		return
	}
	if i, listed := snapshot.Instances.Find(w.Key.Name); listed {
		w.Duplicate = inventory.AlsoListedBy(s.store, w.Key.InstanceManager, i)
	}
}

// do runs reads one by one, or at the same time where each of them goes over the network.
func do(reads []func() error, together bool) error {
	if together {
		var group errgroup.Group
		for _, read := range reads {
			group.Go(read)
		}
		return group.Wait()
	}
	for _, read := range reads {
		if err := read(); err != nil {
			return err
		}
	}
	return nil
}

// place reads an instance manager and its node; nil for what does not exist.
func (s *base) place(ctx context.Context, reader client.Reader, key orphan.Key) (*v1beta2.InstanceManager, *orphan.Manager, *orphan.Node,
	error) {
	im, err := lookup.Shared(ctx, reader, s.namespace, key.InstanceManager, &v1beta2.InstanceManager{})
	if err != nil || im == nil {
		return nil, nil, nil, err
	}
	manager := &orphan.Manager{Node: im.Spec.NodeID, DataEngine: im.Spec.DataEngine}
	node, err := lookup.Shared(ctx, reader, s.namespace, im.Spec.NodeID, &v1beta2.Node{})
	if err != nil || node == nil {
		return im, manager, nil, err
	}
	return im, manager, nodeOf(node, key.Name), nil
}

func deleting(o metav1.Object) bool { return o.GetDeletionTimestamp() != nil }

func inventoryOf(s *inventory.Snapshot, name string) *orphan.Inventory {
	if s == nil {
		return nil
	}
	out := &orphan.Inventory{Began: s.Began, EpochSince: s.EpochSince}
	if i, ok := s.Instances.Find(name); ok {
		out.Instance = &orphan.Instance{Type: i.Type, State: i.State, UUID: i.UUID, UUIDSource: orphan.UUIDSource(i.UUIDSource),
			DiskUUID: i.DiskUUID}
	}
	return out
}

func engineClaim(e *v1beta2.Engine) *orphan.Claim {
	if e == nil {
		return nil
	}
	return &orphan.Claim{
		Deleting: deleting(e), DesireState: e.Spec.DesireState, CurrentState: e.Status.CurrentState, NodeID: e.Spec.NodeID,
		OwnerID: e.Status.OwnerID, InstanceManager: e.Status.InstanceManagerName, VolumeName: e.Spec.VolumeName,
		Address: address(e.Status.StorageIP, e.Status.Port),
	}
}

func replicaClaim(r *v1beta2.Replica) *orphan.Claim {
	if r == nil {
		return nil
	}
	return &orphan.Claim{
		Deleting: deleting(r), DesireState: r.Spec.DesireState, CurrentState: r.Status.CurrentState, NodeID: r.Spec.NodeID,
		OwnerID: r.Status.OwnerID, InstanceManager: r.Status.InstanceManagerName, VolumeName: r.Spec.VolumeName,
		DiskID: r.Spec.DiskID, Address: address(r.Status.StorageIP, r.Status.Port),
	}
}

func address(ip string, port int) string {
	if ip == "" || port == 0 {
		return ""
	}
	return net.JoinHostPort(ip, strconv.Itoa(port))
}

// deletionSeen is when this process first saw that an Orphan is being deleted: after the deletion, whatever the clocks of the two are.
func (s *base) deletionSeen(o *v1beta2.Orphan) time.Time {
	if at := s.attempts.Of(o.UID).deletionSeen; !at.IsZero() {
		return at
	}
	now := s.clock.Now()
	return s.attempts.Change(o.UID, func(t *attempt) {
		if t.deletionSeen.IsZero() {
			t.deletionSeen = now
		}
	}).deletionSeen
}

// orphanOf reads an Orphan, as far as the lists of an instance manager report something about it.
func (s *base) orphanOf(o *v1beta2.Orphan, instanceManager string) orphan.Orphan {
	out := orphan.Orphan{
		Name: o.Name, OrphanType: o.Spec.OrphanType, DataEngine: o.Spec.DataEngine, Node: o.Spec.NodeID,
		InstanceName:    o.Spec.Parameters[v1beta2.OrphanParameterInstanceName],
		InstanceManager: o.Spec.Parameters[v1beta2.OrphanParameterInstanceManager],
		UUID:            o.Spec.Parameters[v1beta2.OrphanParameterInstanceUUID],
		DiskUUID:        o.Spec.Parameters[v1beta2.OrphanParameterDiskUUID],
		ByHand:          v1beta2.DeletedByHand(o), ByHandCommand: v1beta2.DeleteByHandCommand(o), GivenUp: v1beta2.GivenUp(o),
		Deleting: deleting(o), OwnerID: o.Status.OwnerID, Conditions: o.Status.Conditions,
	}
	if o.Spec.OrphanType == v1beta2.OrphanTypeReplicaData {
		out.InstanceName, out.InstanceManager = o.Spec.Parameters[v1beta2.OrphanParameterDataName], instanceManager
		out.Data = &orphan.Data{DiskName: o.Spec.Parameters[v1beta2.OrphanParameterDiskName], DiskUUID: out.DiskUUID,
			DiskPath: o.Spec.Parameters[v1beta2.OrphanParameterDiskPath]}
	}
	if out.Deleting {
		out.DeletionSeen = s.deletionSeen(o)
		out.FencingDelayed = s.fencingDelayEnds().After(s.clock.Now())
	}
	attempt := s.attempts.Of(o.UID)
	out.Failure = attempt.failure
	out.Absent = s.absent(out, attempt)
	if !out.Absent && out.DataEngine == v1beta2.DataEngineV2 && out.OrphanType != v1beta2.OrphanTypeEngineInstance {
		out.Unloaded = s.store.Unloaded(out.InstanceManager, out.DiskUUID)
	}
	return out
}
