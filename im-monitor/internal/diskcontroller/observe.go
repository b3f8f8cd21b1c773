package diskcontroller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"drover.dev/drover/im-monitor/internal/disk"
	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/diskspace"
	"drover.dev/drover/shared/lookup"
)

// placed is what counts of a Replica for the disks of a node.
type placed struct {
	node, disk, path string
	bytes            int64
}

func place(r *v1beta2.Replica) placed {
	return placed{r.Spec.NodeID, r.Spec.DiskID, r.Spec.DiskPath, r.Spec.VolumeSize}
}

// pressureSettings lets the two settings pass that decide whether a disk is too full.
func pressureSettings() predicate.Predicate {
	return predicate.NewPredicateFuncs(func(o client.Object) bool {
		return o.GetName() == setting.MinimalAvailable || o.GetName() == setting.OverProvisioning
	})
}

// server is a run of the node's v2 instance manager.
type server struct {
	name, address, run string
	latest             *inventory.Snapshot
}

// errNotYet: an instance manager answers, and this process has not connected to it yet. Nothing is concluded from that.
var errNotYet = errors.New("not connected yet")

// serverOf is the node's v2 instance manager that answers; nil where there is none. none reports that the node has no v2 instance manager
// at all.
func (s *reconciler) serverOf(ctx context.Context, nodeName string) (at *server, none bool, err error) {
	var list v1beta2.InstanceManagerList
	if err := lookup.ListShared(ctx, s.rt.Client, s.rt.Namespace, &list, client.MatchingFields{byNode: nodeName}); err != nil {
		return nil, false, err
	}
	for i := range list.Items {
		im := &list.Items[i]
		if !answers(im) {
			continue
		}
		target, known := s.known.Target(im.Name)
		if !known || target.Address != im.Status.IP {
			return nil, false, errNotYet
		}
		latest, _ := s.known.Latest(im.Name)
		return &server{name: im.Name, address: target.Address, latest: latest, run: target.Run()}, false, nil
	}
	return nil, len(list.Items) == 0, nil
}

// world is what the decision is made from, but for what the server reported.
func (s *reconciler) world(ctx context.Context, reader client.Reader, n *v1beta2.Node) (disk.World, error) {
	values, err := s.settings.Current(ctx)
	if err != nil {
		return disk.World{}, err
	}
	w := disk.World{Now: s.rt.Clock.Now(), Node: n.Name, Specs: n.Spec.Disks, Status: n.Status.DiskStatus,
		Settle: s.Settle, CallTimeout: s.CallTimeout, RetryMin: s.RetryMin, RetryMax: s.RetryMax,
		Pressure: diskspace.Limits{MinimalAvailable: int64(values.MinimalAvailable), OverProvisioning: int64(values.OverProvisioning)}}
	if c := conditions.Get(n.Status.Conditions, v1beta2.NodeReady); c != nil && c.Status == v1beta2.ConditionFalse {
		w.NodeNotReady = cmp.Or(c.Message, c.Reason)
	}
	var list v1beta2.ReplicaList
	options := []client.ListOption{client.InNamespace(s.rt.Namespace)}
	if reader == nil {
		reader = s.rt.Client
		options = append(options, client.MatchingFields{byNode: n.Name}, client.UnsafeDisableDeepCopy)
	}
	if err := reader.List(ctx, &list, options...); err != nil {
		return disk.World{}, fmt.Errorf("listing the replicas of node %s: %w", n.Name, err)
	}
	for i := range list.Items {
		r := &list.Items[i]
		if r.Spec.NodeID == n.Name && r.Spec.DataEngine == v1beta2.DataEngineV2 {
			w.Replicas = append(w.Replicas, disk.Replica{Name: r.Name, DiskID: r.Spec.DiskID, DiskPath: r.Spec.DiskPath,
				Bytes: r.Spec.VolumeSize})
		}
	}
	return w, s.claims(ctx, n, &w)
}

// claims finds the replicas of other nodes that name a disk of this node by its UUID. They are only reported: the cache will do.
func (s *reconciler) claims(ctx context.Context, n *v1beta2.Node, w *disk.World) error {
	for _, status := range n.Status.DiskStatus {
		if status.DiskUUID == "" {
			continue
		}
		var list v1beta2.ReplicaList
		if err := lookup.ListShared(ctx, s.rt.Client, s.rt.Namespace, &list, client.MatchingFields{byDisk: status.DiskUUID}); err != nil {
			return err
		}
		for i := range list.Items {
			if r := &list.Items[i]; r.Spec.NodeID != n.Name {
				w.Elsewhere = append(w.Elsewhere, disk.Claim{Name: r.Name, Node: r.Spec.NodeID, DiskID: status.DiskUUID})
			}
		}
	}
	return nil
}

// question asks the server about every v2 disk of the node.
func (s *reconciler) question(ctx context.Context, at *server, n *v1beta2.Node) map[string]disk.Answer {
	out := map[string]disk.Answer{}
	for _, key := range slices.Sorted(maps.Keys(n.Spec.Disks)) {
		spec := n.Spec.Disks[key]
		if spec.DiskType != v1beta2.DiskTypeBlock {
			continue
		}
		answer, err := s.ask(ctx, at.address, imclient.DiskQuery{Name: key, Path: spec.Path,
			Driver: disk.QueryDriver(spec, n.Status.DiskStatus[key])})
		switch {
		case errors.Is(err, imclient.ErrDiskNotFound):
			out[key] = disk.Answer{Unknown: true}
		case err != nil:
			out[key] = disk.Answer{Failed: err.Error(), Vanished: errors.Is(err, imclient.ErrDeviceGone)}
		default:
			out[key] = disk.Answer{State: answer.State, UUID: answer.UUID, Name: answer.Name, Driver: answer.Driver, Path: answer.Path,
				TotalBytes: answer.TotalBytes,
				FreeBytes:  answer.FreeBytes}
		}
	}
	return out
}

// inUse are the disks with running replicas in the server's latest list; nil where that is not known.
func (at *server) inUse() map[string]bool {
	if at.latest == nil {
		return nil
	}
	out := map[string]bool{}
	for _, i := range at.latest.Instances.All() {
		if i.Type == v1beta2.InstanceTypeReplica && i.DiskUUID != "" && i.State != v1beta2.InstanceStateStopped &&
			i.State != v1beta2.InstanceStateError {
			out[i.DiskUUID] = true
		}
	}
	return out
}
