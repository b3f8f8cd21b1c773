package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// The nodes and volumes.
const (
	cut, spare, helper = "node-1", "node-2", "node-3"
	shop, archive      = "shop", "archive"
	grace              = 5 * time.Second
	patience           = 60 * time.Second
)

var nodes = []string{cut, spare, helper}

type demo struct {
	scenario *scenario
	world    *world.World

	// moved are the volumes that leave the partitioned node, stale are their instances that still run there.
	moved  []string
	stale  []world.Stale
	byHand world.Stale
}

func (d *demo) run(ctx context.Context) error {
	sections := []func(context.Context) error{d.volumes, d.competition, d.snapshots, d.backups}
	if !world.IsReal() { // it expands an attached volume, which needs a kernel device on real servers
		sections = append(sections, d.claims)
	}
	sections = append(sections, d.outage, d.healing, d.orphans, d.forgery, d.deletion, d.automation, d.untouched)
	if !world.IsReal() { // it replaces the v2 data engine
		sections = append(sections, d.upgrades)
	}
	for _, section := range sections {
		if err := section(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (d *demo) orphans(ctx context.Context) error {
	s, w := d.scenario, d.world
	s.section("The stale instances are found, and their orphans give the reason")
	var found []world.Stale
	for _, stale := range d.stale {
		if err := s.step(ctx, "orphan of "+stale.Name, func(ctx context.Context) (string, error) {
			why, err := d.orphanOrEnd(ctx, stale)
			if err != nil || why != "" {
				found = append(found, stale)
				return why, err
			}
			calls, err := w.CallsOf(ctx, stale.Name)
			return "no orphan: the instance is gone already, by these calls:\n" + calls, err
		}); err != nil {
			return err
		}
	}
	if d.stale = found; len(found) == 0 {
		return errors.New("no stale engine is left to show: run the demo again")
	}
	if err := d.plugin(ctx, "orphans"); err != nil {
		return err
	}
	return s.step(ctx, "no other instance is an orphan", func(ctx context.Context) (string, error) {
		// The reused replica is an orphan, too, while its old process runs; the orphan ends with the process.
		return "", w.Wait(ctx, "no other orphan", patience, func(ctx context.Context) (string, error) {
			if err := w.OrphansAre(ctx, d.stale); err != nil {
				return err.Error(), nil
			}
			return "", nil
		})
	})
}

// orphanOrEnd waits for the orphan of a stale instance and returns its reason; empty where the instance is gone.
func (d *demo) orphanOrEnd(ctx context.Context, stale world.Stale) (why string, err error) {
	w := d.world
	err = w.Wait(ctx, "the orphan or the end of "+stale.Name, patience, func(ctx context.Context) (string, error) {
		orphan := &v1beta2.Orphan{}
		err := w.Get(ctx, stale.Orphan(), orphan)
		if why = conditions.Reason(orphan.Status.Conditions, v1beta2.OrphanOrphaned); err == nil && why != "" {
			return "", nil
		}
		running, err := w.Inventory(ctx, stale.InstanceManager)
		if is, there := running[stale.Name]; there && is.UUID == stale.UUID {
			return "it runs, and has no orphan yet", err
		}
		return "", err
	})
	return why, err
}

func (d *demo) deletion(ctx context.Context) error {
	s, w := d.scenario, d.world
	s.section("A person deletes one orphan")
	d.byHand, d.stale = d.stale[0], d.stale[1:]
	if err := s.step(ctx, "kubectl delete lho: the orphan of "+d.byHand.Name, func(ctx context.Context) (string, error) {
		return "", w.DeleteOrphan(ctx, d.byHand.Orphan())
	}); err != nil {
		return err
	}
	if err := s.step(ctx, "the instance is deleted, and the orphan ends", func(ctx context.Context) (string, error) {
		if err := w.WaitOrphanGone(ctx, d.byHand.Orphan(), patience); err != nil {
			return "", err
		}
		return "the instance's absence was proven before the object was removed", w.Gone(ctx, d.byHand)
	}); err != nil {
		return err
	}
	return s.step(ctx, d.byHand.Name+" on "+helper+" still runs", func(ctx context.Context) (string, error) {
		return "an instance of the same name on another node is kept",
			w.Runs(ctx, w.InstanceManager(helper, d.byHand.DataEngine), d.byHand.Name)
	})
}

func (d *demo) forgery(ctx context.Context) error {
	s, w := d.scenario, d.world
	s.section("A forged UUID is refused")
	target := d.stale[0]
	forged := target
	forged.UUID = "00000000-dead-4bad-8bad-000000000000"
	name := forged.Orphan()
	if err := s.step(ctx, "a person creates an orphan for "+target.Name+" with a wrong UUID, and deletes it",
		func(ctx context.Context) (string, error) {
			if err := w.Admin.Create(ctx, forged.Object(w.Namespace)); err != nil {
				return "", fmt.Errorf("creating the forged orphan: %w", err)
			}
			return "UUID " + forged.UUID, w.DeleteOrphan(ctx, name)
		}); err != nil {
		return err
	}
	return s.step(ctx, "the orphan ends without a call to the data plane", func(ctx context.Context) (string, error) {
		if err := w.WaitOrphanGone(ctx, name, patience); err != nil {
			return "", err
		}
		listed, err := w.Inventory(ctx, target.InstanceManager)
		if err == nil && listed[target.Name].UUID != target.UUID {
			err = fmt.Errorf("%s is not listed with UUID %s any more: %+v", target.Name, target.UUID, listed[target.Name])
		}
		return target.Name + " still runs", err
	})
}

func (d *demo) automation(ctx context.Context) error {
	s, w := d.scenario, d.world
	s.section("Auto deletion removes the other orphans")
	if err := s.step(ctx, fmt.Sprintf("auto deletion is switched on, with a grace period of %s", grace),
		func(ctx context.Context) (string, error) {
			if err := w.Set(ctx, "orphan-resource-auto-deletion-grace-period", fmt.Sprint(int(grace.Seconds()))); err != nil {
				return "", err
			}
			return "orphan-resource-auto-deletion = instance", w.Set(ctx, "orphan-resource-auto-deletion", "instance")
		}); err != nil {
		return err
	}
	for _, stale := range d.stale {
		if err := s.step(ctx, stale.Name+" is cleaned up", func(ctx context.Context) (string, error) {
			if err := w.WaitOrphanGone(ctx, stale.Orphan(), patience); err != nil {
				return "", err
			}
			return "on " + stale.Node, w.Gone(ctx, stale)
		}); err != nil {
			return err
		}
	}
	return nil
}

func (d *demo) untouched(ctx context.Context) error {
	s, w := d.scenario, d.world
	s.section("Claimed instances and data were never changed")
	for _, name := range append([]string{archive}, d.moved...) {
		if err := s.step(ctx, "every instance and all data of "+name+" still exist", func(ctx context.Context) (string, error) {
			return "", d.whole(ctx, name)
		}); err != nil {
			return err
		}
	}
	if err := s.step(ctx, "no engine ever used replicas that differ, no volume ever had two writers",
		func(ctx context.Context) (string, error) {
			if world.IsReal() {
				return "every acknowledged block was read back", errors.Join(w.Verify(ctx, "db"), w.Verify(ctx, "cache"), d.journal(ctx))
			}
			return "checked in the simulator's journal", d.journal(ctx)
		}); err != nil {
		return err
	}
	return d.plugin(ctx, "status")
}

// whole compares the instances and data that the volume's objects claim with the data plane.
func (d *demo) whole(ctx context.Context, name string) error {
	replicas, err := d.world.ReplicasOf(ctx, name)
	if err != nil {
		return err
	}
	v := &world.Volume{Name: name, Engine: name + "-e-0"}
	for _, r := range replicas {
		v.DataEngine = r.Spec.DataEngine
		v.Replicas = append(v.Replicas, r.Name)
	}
	return d.world.Whole(ctx, v)
}

// journal compares the UUID of every deletion with the requested one, and checks that no data was harmed: only the volume of the claim
// was deleted with its data.
func (d *demo) journal(ctx context.Context) error {
	deletions, err := d.world.Deletions(ctx)
	if err != nil {
		return err
	}
	for _, deletion := range deletions {
		if deletion.Executed && deletion.UUIDAsked != "" && deletion.UUIDAsked != deletion.UUIDFound {
			return fmt.Errorf("a deletion of %s requested UUID %q and hit UUID %q", deletion.Name, deletion.UUIDAsked, deletion.UUIDFound)
		}
		if deletion.DataDestroyed && !strings.HasPrefix(deletion.Name, claimed+"-") {
			return fmt.Errorf("data was destroyed with %s", deletion.Name)
		}
	}
	return d.world.NoHarm(ctx)
}

// tables shows a resource as kubectl prints it.
func (d *demo) tables(ctx context.Context, resource, short string) error {
	table, err := d.world.Table(ctx, resource)
	if err != nil {
		return err
	}
	d.scenario.show("kubectl -n "+d.world.Namespace+" get "+short, table)
	return nil
}
