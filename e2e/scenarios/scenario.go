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

// Topology is the set of controllers of a scenario beside im-monitor and orphan-controller. Each next one includes the previous ones.
type Topology int

// The topologies. Orphans has no other controller: the World itself moves volumes there.
const (
	Orphans Topology = iota
	Attached
	Snapshots
	Upgrades
)

// Topologies are all of them.
var Topologies = []Topology{Orphans, Attached, Snapshots, Upgrades}

// Options are those of a World for the topology.
func (c Topology) Options() world.Options {
	return world.Options{Nodes: Nodes, Record: true, Attach: c >= Attached, Snapshots: c >= Snapshots, Upgrades: c >= Upgrades}
}

// Scenario is a scenario in which a controller may crash at any step.
type Scenario struct {
	// ID is its entry in the list of scenarios, Sentence what happens.
	ID, Sentence string
	// Setup creates the initial state. Act is what people and the environment do, and must tolerate that a controller crashes
	// meanwhile. End waits for the end state.
	Setup, Act, End func(context.Context, *Scene) error
	// Topology is the set of controllers that the scenario's World needs.
	Topology Topology
	// Check checks the state after the run; nil means the invariants of orphans.
	Check func(context.Context, *Scene) error
	// Point reports whether a step is a crash point; nil means all are.
	Point func(record.Step) bool
}

// Scene is the state of one run of a scenario.
type Scene struct {
	*world.World
	// V1 and V2 are the volumes that Setup created.
	V1, V2 *world.Volume
	// Stale are the orphaned instances of the scenario.
	Stale []world.Stale
	// MayDelete has the instances that may be deleted, and whether their data may be destroyed.
	MayDelete []Permit
	// MayStay are the names of Orphans that are part of the end state.
	MayStay map[string]bool
	// Watch, if set, watches the run and returns what it found at the end.
	Watch interface{ Stop() error }
	// Volume is the name of the scenario's volume, where attach-controller attaches it.
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

// Invariants checks, for everything that the data plane executed, that only permitted instances were deleted (ORP-1,
// ORP-2) by the evaluated UUID (ORP-3), and that every Orphan has ended but those that stay (ORP-4).
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
		return fmt.Errorf("ORP-3: %s on %s was deleted with UUID %s, evaluated was %s", d.Name, d.InstanceManager, d.UUIDFound, d.UUIDAsked)
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
	return fmt.Errorf("ORP-1: %s (%s) on %s was deleted although it is claimed or no deletion was requested", d.Name, d.UUIDFound,
		d.InstanceManager)
}

// EffectiveDeletions counts the deletions of each instance that had an effect.
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

// Run runs the scenario once. After Setup it calls before, unless that is nil.
func (s Scenario) Run(ctx context.Context, w *world.World, before func(*Scene) error) (*Scene, error) {
	scene := &Scene{World: w, MayStay: map[string]bool{}}
	if err := s.Setup(ctx, scene); err != nil {
		return scene, fmt.Errorf("%s, setup: %w", s.ID, err)
	}
	if before != nil {
		if err := before(scene); err != nil {
			return scene, fmt.Errorf("%s, before: %w", s.ID, err)
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
