package scenarios

import (
	"context"
	"errors"
	"fmt"
	"time"

	"drover.dev/drover/e2e/record"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// Patience is how long a scenario waits for anything that must happen.
const Patience = 90 * time.Second

// staleTime is how long a scenario watches that nothing happens.
const staleTime = 4 * time.Second

// The nodes of every scenario.
const (
	Near, Far, Third = "node-1", "node-2", "node-3"
)

// Nodes are the nodes that a World needs for the scenarios.
var Nodes = []string{Near, Far, Third}

// Topology is who plays a scenario beside im-monitor and orphan-controller. Each next one has the ones before in it.
type Topology int

// The casts. Orphans has nobody else: the World itself moves volumes there.
const (
	Orphans Topology = iota
	Attached
	Snapshots
	Upgrades
)

// Topologies are all of them.
var Topologies = []Topology{Orphans, Attached, Snapshots, Upgrades}

// Options are those of a World for the cast.
func (c Topology) Options() world.Options {
	return world.Options{Nodes: Nodes, Record: true, Attach: c >= Attached, Snapshots: c >= Snapshots, Upgrades: c >= Upgrades}
}

// Scenario is a scenario that may be cut anywhere.
type Scenario struct {
	// ID is its line in the list of scenarios, Sentence what happens.
	ID, Sentence string
	// Setup makes what is there before. Act is what people and the world do, and must tolerate that a controller dies
	// meanwhile. End waits for the end state.
	Setup, Act, End func(context.Context, *Scene) error
	// Topology says which controllers the scenario's World needs.
	Topology Topology
	// Check is what must hold after the run; nil means the invariants of orphans.
	Check func(context.Context, *Scene) error
	// Point tells which steps are crash points; nil means all.
	Point func(record.Step) bool
}

// Scene is one run of a scenario.
type Scene struct {
	*world.World
	// V1 and V2 are the volumes that the Stage made.
	V1, V2 *world.Volume
	// Stale are the instances that the scenario is about.
	Stale []world.Stale
	// MayDelete says which instances may be deleted, and whether their data may be destroyed.
	MayDelete []Permit
	// MayStay are the names of Orphans that are part of the end state.
	MayStay map[string]bool
	// Watch watches over the run, where the scenario wants that, and says in the end what it found.
	Watch interface{ Stop() error }
	// Volume is the name of the volume that the scenario is about, where attach-controller made it.
	Volume string
	// seen are the names of Orphans that were there once.
	seen map[string]bool
}

// Permit allows the deletion of exactly one instance.
type Permit struct {
	world.Stale
	// Cleanup is the only cleanupRequired that the call may carry.
	Cleanup bool
}

// Allow permits the deletion of the instance.
func (s *Scene) Allow(stale world.Stale, cleanup bool) {
	s.MayDelete = append(s.MayDelete, Permit{stale, cleanup})
}

// Invariants checks, for everything that the data plane executed, that nothing was deleted but what may be (ORP-1,
// ORP-2) by the UUID that was judged (ORP-3), and that every Orphan has ended but those that stay (ORP-4).
func (s *Scene) Invariants(ctx context.Context) error {
	deletions, err := s.Deletions(ctx)
	if err != nil {
		return err
	}
	for _, d := range deletions {
		if err := s.permitted(d); err != nil {
			return err
		}
	}
	orphans, err := s.Orphans(ctx)
	if err != nil {
		return err
	}
	lies := map[string]bool{}
	for _, o := range orphans {
		lies[o.Spec.Parameters[v1beta2.OrphanParameterInstanceName]] = s.MayStay[o.Name]
	}
	for _, o := range orphans {
		if data := o.Spec.Parameters[v1beta2.OrphanParameterDataName]; s.MayStay[o.Name] || lies[data] {
			continue
		} else if data != "" { // the data is gone, which takes a while to be proven
			if err := s.WaitOrphanGone(ctx, o.Name, Patience); err != nil {
				return fmt.Errorf("ORP-4: the orphan of the data of %s: %w", data, err)
			}
			continue
		}
		return fmt.Errorf("ORP-4: the orphan of %s has not ended: %s", o.Spec.Parameters[v1beta2.OrphanParameterInstanceName],
			world.FormatConditions(o.Status.Conditions))
	}
	return nil
}

func (s *Scene) permitted(d world.Deletion) error {
	switch {
	case d.UUIDAsked == "":
		return fmt.Errorf("ORP-3: %s on %s was to be deleted without a UUID", d.Name, d.InstanceManager)
	case d.UUIDFound == "":
		return nil // nothing was there any more
	case d.UUIDFound != d.UUIDAsked && d.Executed:
		return fmt.Errorf("ORP-3: %s on %s was deleted with UUID %s, judged was %s", d.Name, d.InstanceManager, d.UUIDFound, d.UUIDAsked)
	case !d.Executed:
		return nil
	}
	for _, p := range s.MayDelete {
		if p.Name == d.Name && p.InstanceManager == d.InstanceManager && p.UUID == d.UUIDFound {
			if p.Cleanup != d.Cleanup {
				return fmt.Errorf("ORP-2: %s on %s was deleted with cleanupRequired=%t", d.Name, d.InstanceManager, d.Cleanup)
			}
			return nil
		}
	}
	return fmt.Errorf("ORP-1: %s (%s) on %s was deleted although it is claimed or nobody asked", d.Name, d.UUIDFound, d.InstanceManager)
}

// EffectiveDeletions are how often each instance was really deleted.
func (s *Scene) EffectiveDeletions(ctx context.Context) (map[string]int, error) {
	deletions, err := s.Deletions(ctx)
	if err != nil {
		return nil, err
	}
	out := map[string]int{}
	for _, d := range deletions {
		if d.Executed && d.UUIDFound != "" {
			out[d.UUIDFound]++
		}
	}
	return out, nil
}

// Run plays the scenario once. Once the stage is set, before is called, if there is any.
func (s Scenario) Run(ctx context.Context, w *world.World, before func(*Scene) error) (*Scene, error) {
	scene := &Scene{World: w, MayStay: map[string]bool{}}
	if err := s.Setup(ctx, scene); err != nil {
		return scene, fmt.Errorf("%s, stage: %w", s.ID, err)
	}
	if before != nil {
		if err := before(scene); err != nil {
			return scene, fmt.Errorf("%s, trouble: %w", s.ID, err)
		}
	}
	if err := s.Act(ctx, scene); err != nil {
		return scene, fmt.Errorf("%s, act: %w", s.ID, err)
	}
	if err := s.End(ctx, scene); err != nil {
		return scene, errors.Join(fmt.Errorf("%s, end: %w", s.ID, err), s.check(ctx, scene))
	}
	return scene, s.check(ctx, scene)
}

func (s Scenario) check(ctx context.Context, scene *Scene) error {
	if s.Check != nil {
		return s.Check(ctx, scene)
	}
	return scene.Invariants(ctx)
}
