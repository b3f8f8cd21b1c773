package watchcheck

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/watch"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
)

// watch follows every version of the objects of the invariants. Watches begin with the existing objects.
func (g *Checker) watch(ctx context.Context) error {
	for _, list := range []client.ObjectList{&v1beta2.NodeList{}, &v1beta2.NodeDataEngineUpgradeList{}, &v1beta2.ReplicaList{}} {
		events, err := g.world.Admin.Watch(ctx, list, client.InNamespace(g.world.Namespace))
		if err != nil {
			return fmt.Errorf("watching %T: %w", list, err)
		}
		g.group.Go(func() {
			defer events.Stop()
			for event := range events.ResultChan() {
				g.see(ctx, event)
			}
			if ctx.Err() == nil {
				g.mutex.Lock()
				defer g.mutex.Unlock()
				g.violated("watch", "the watch of %T ended, so that versions may have been missed", list)
			}
		})
	}
	return nil
}

func (g *Checker) see(ctx context.Context, event watch.Event) {
	gone := event.Type == watch.Deleted
	g.mutex.Lock()
	g.versions++
	var ended *v1beta2.NodeDataEngineUpgrade
	switch object := event.Object.(type) {
	case *v1beta2.Node:
		put(g.facts.nodes, object.Name, object, gone)
		g.closed()
	case *v1beta2.NodeDataEngineUpgrade:
		before := g.facts.upgrades[object.Name]
		put(g.facts.upgrades, object.Name, object, gone)
		g.underWay()
		if before != nil && begun(before) && !begun(object) {
			ended = object
		}
	case *v1beta2.Replica:
		put(g.facts.replicas, object.Name, object, gone)
		g.healthy(object.Spec.VolumeName)
	}
	g.mutex.Unlock()
	if ended != nil {
		g.wayOut(ctx, ended)
	}
}

func put[T any](into map[string]T, name string, object T, gone bool) {
	if gone {
		delete(into, name)
	} else {
		into[name] = object
	}
}

// begun reports whether an upgrade may have changed its node and has not ended.
func begun(u *v1beta2.NodeDataEngineUpgrade) bool {
	return !slices.Contains([]string{"", v1beta2.UpgradeStateUndefined, v1beta2.UpgradeStateCompleted, v1beta2.UpgradeStateError},
		u.Status.State)
}

// closed checks UPG-2.
func (g *Checker) closed() {
	var names []string
	for name, node := range g.facts.nodes {
		if node.Spec.UpgradeRequested {
			names = append(names, name)
		}
	}
	if slices.Sort(names); len(names) > 1 {
		g.violated("closed"+strings.Join(names, " "), "UPG-2: nodes %v are cordoned at once", names)
	}
}

// underWay checks UPG-2.
func (g *Checker) underWay() {
	var names []string
	for name, u := range g.facts.upgrades {
		if begun(u) {
			names = append(names, name)
		}
	}
	if slices.Sort(names); len(names) > 1 {
		g.violated("under way"+strings.Join(names, " "), "UPG-2: %v are in progress at once", names)
	}
}

// healthy checks UPG-1 on the objects.
func (g *Checker) healthy(volume string) {
	if !g.volumes[volume] {
		return
	}
	count, of := 0, 0
	for _, r := range g.facts.replicas {
		if r.Spec.VolumeName != volume {
			continue
		}
		of++
		if r.Spec.HealthyAt != "" && r.Spec.FailedAt == "" && r.DeletionTimestamp == nil {
			count++
		}
	}
	// The first versions of a watch arrive one after the other: an object that is not known yet is no violation.
	if count == 0 && of > 1 {
		g.violated("healthy "+volume, "UPG-1: none of the %d Replica objects of %s is healthy", of, volume)
	}
}

// wayOut checks UPG-4 with uncached reads at the moment at which the upgrade of a node reported its end.
func (g *Checker) wayOut(ctx context.Context, u *v1beta2.NodeDataEngineUpgrade) {
	var wrong []string
	node := &v1beta2.Node{}
	if err := g.world.Get(ctx, u.Spec.NodeID, node); err == nil && node.Spec.UpgradeRequested && !g.another(u) {
		wrong = append(wrong, "node "+node.Name+" is still cordoned")
	}
	for name, x := range u.Status.Volumes {
		v := &v1beta2.Volume{}
		if err := g.world.Get(ctx, name, v); err == nil && x.TemporaryNodeID != "" && v.Spec.TargetNodeID == x.TemporaryNodeID &&
			!g.another(u) {
			wrong = append(wrong, fmt.Sprintf("the target of volume %s is still requested on %s", name, v.Spec.TargetNodeID))
		}
	}
	if len(wrong) == 0 || ctx.Err() != nil {
		return
	}
	g.mutex.Lock()
	defer g.mutex.Unlock()
	g.violated("way out"+u.Name, "UPG-4: %s ended as %s, and %s", u.Name, u.Status.State, strings.Join(wrong, ", "))
}

// another reports whether another upgrade of a node has begun meanwhile, whose node and targets these may be.
func (g *Checker) another(u *v1beta2.NodeDataEngineUpgrade) bool {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	for name, o := range g.facts.upgrades {
		if begun(o) && name != u.Name {
			return true
		}
	}
	return false
}
