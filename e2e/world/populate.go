package world

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
)

// writers is the number of concurrent requests of a population.
const writers = 16

// Each calls do with each number below times, from several goroutines at once, and returns the first error.
func Each(ctx context.Context, times int, do func(context.Context, int) error) error {
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(writers)
	for i := range times {
		group.Go(func() error { return do(ctx, i) })
	}
	return group.Wait()
}

// Populate starts instances, evenly over all nodes and both data engines, one engine for every three replicas, and creates the running
// object of each but every n-th: those are recorded as abandoned, become orphans, and are returned. None is, if every is 0.
func (w *World) Populate(ctx context.Context, instances, every int) ([]Stale, error) {
	list := w.population(instances)
	var stale []Stale
	var owned []Stale
	for i, s := range list {
		if every > 0 && i%every == 0 {
			stale = append(stale, s)
		} else {
			owned = append(owned, s)
		}
	}
	// The objects come first: otherwise every instance would be an orphan for a while.
	if err := w.Own(ctx, owned); err != nil {
		return nil, err
	}
	if err := w.recordAbandoned(ctx, stale...); err != nil {
		return nil, err
	}
	return stale, w.PutAll(ctx, list)
}

// population names the instances; the same number always gives the same ones.
func (w *World) population(instances int) []Stale {
	nodes, engines := w.options.Nodes, []string{v1beta2.DataEngineV1, v1beta2.DataEngineV2}
	list := make([]Stale, 0, instances)
	for i := range instances {
		node, engine := nodes[i%len(nodes)], engines[i/len(nodes)%2]
		s := Stale{Name: fmt.Sprintf("pop-%06d-r-%08x", i/4, i), Type: v1beta2.InstanceTypeReplica, DataEngine: engine, Node: node,
			UUID: fmt.Sprintf("%08x-0000-4000-8000-%012x", i, i), InstanceManager: w.InstanceManager(node, engine)}
		if i%4 == 0 {
			s.Name, s.Type = fmt.Sprintf("pop-%06d-e-0", i/4), v1beta2.InstanceTypeEngine
		}
		list = append(list, s)
	}
	return list
}

// Own creates the objects that claim the instances on their nodes.
func (w *World) Own(ctx context.Context, list []Stale) error {
	return Each(ctx, len(list), func(ctx context.Context, i int) error { return w.own(ctx, list[i]) })
}

func (w *World) own(ctx context.Context, s Stale) error {
	meta := w.meta(s.Name, nil)
	meta.Finalizers = nil
	meta.Labels = map[string]string{v1beta2.LabelNode: s.Node}
	var object client.Object = &v1beta2.Replica{ObjectMeta: meta, Spec: v1beta2.ReplicaSpec{
		DataEngine: s.DataEngine, NodeID: s.Node, DesireState: v1beta2.InstanceStateRunning, VolumeName: s.Name[:10], HealthyAt: now()}}
	if s.Type == v1beta2.InstanceTypeEngine {
		object = &v1beta2.Engine{ObjectMeta: meta, Spec: v1beta2.EngineSpec{
			DataEngine: s.DataEngine, NodeID: s.Node, DesireState: v1beta2.InstanceStateRunning, VolumeName: s.Name[:10], Active: true}}
	}
	if err := w.Admin.Create(ctx, object); client.IgnoreAlreadyExists(err) != nil {
		return fmt.Errorf("creating the object of %s: %w", s.Name, err)
	}
	return w.setStatus(ctx, object, map[string]any{"currentState": v1beta2.InstanceStateRunning, "started": true, "ownerID": s.Node,
		"instanceManagerName": s.InstanceManager, "uuid": s.UUID})
}

// PutPopulation starts the instances of Populate without their objects.
func (w *World) PutPopulation(ctx context.Context, instances int) ([]Stale, error) {
	list := w.population(instances)
	return list, w.PutAll(ctx, list)
}

// WaitListed waits until im-monitor has written this number of listed instances, so that nothing is left to write.
func (w *World) WaitListed(ctx context.Context, instances int, within time.Duration) error {
	return w.Wait(ctx, "the status of all instance managers", within, func(ctx context.Context) (string, error) {
		var managers v1beta2.InstanceManagerList
		if err := w.List(ctx, &managers); err != nil {
			return "", err
		}
		listed := 0
		for _, m := range managers.Items {
			listed += len(m.Status.InstanceEngines) + len(m.Status.InstanceReplicas)
		}
		if listed < instances {
			return fmt.Sprintf("%d of %d instances are listed", listed, instances), nil
		}
		return "", nil
	})
}

// revive lets the pods of a kept population run again: the simulator that ran them is gone, and a real kubelet would
// still run them. Their status is removed before the next simulator reads them, so that it starts them.
func (w *World) revive(ctx, _ context.Context) error {
	if w.options.DataFrom == "" {
		return nil
	}
	var pods corev1.PodList
	if err := w.List(ctx, &pods); err != nil {
		return err
	}
	w.options.Log("restarting %d pods of the kept population", len(pods.Items))
	return Each(ctx, len(pods.Items), func(ctx context.Context, i int) error {
		return w.setStatus(ctx, &pods.Items[i],
			map[string]any{"phase": "Pending", "podIP": nil, "podIPs": nil, "containerStatuses": nil, "conditions": nil})
	})
}

// reviveDisks gives the new simulator the v2 disks that are recorded of a kept population: they would be blank, and a blank device is not
// loaded as one with a recorded UUID.
func (w *World) reviveDisks(ctx, _ context.Context) error {
	if w.options.DataFrom == "" {
		return nil
	}
	var nodes v1beta2.NodeList
	if err := w.List(ctx, &nodes); err != nil {
		return err
	}
	return Each(ctx, len(nodes.Items), func(ctx context.Context, i int) error {
		n := &nodes.Items[i]
		for key, disk := range n.Status.DiskStatus {
			if disk.DiskType != "block" || disk.DiskUUID == "" {
				continue
			}
			if _, err := w.AddDevice(ctx, Device{Node: n.Name, Path: n.Spec.Disks[key].Path,
				Lvstore: &Lvstore{Name: key, UUID: disk.DiskUUID}}); err != nil {
				return err
			}
		}
		return nil
	})
}

// WaitPods waits until the simulator runs a pod for every node and data engine.
func (w *World) WaitPods(ctx context.Context, within time.Duration) error {
	return w.Wait(ctx, "the pods to run", within, func(ctx context.Context) (string, error) {
		var status struct{ Pods int }
		if err := w.ctl(ctx, http.MethodGet, "/v1/status", nil, &status); err != nil {
			return "", err
		}
		if status.Pods < 2*len(w.options.Nodes) {
			return fmt.Sprintf("%d of %d pods run", status.Pods, 2*len(w.options.Nodes)), nil
		}
		return "", nil
	})
}
