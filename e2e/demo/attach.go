package main

import (
	"context"
	"errors"
	"fmt"

	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// volumes orders four volumes and attaches three of them, as pods would.
func (d *demo) volumes(ctx context.Context) error {
	s, w := d.scenario, d.world
	s.section("Volumes are attached by tickets")
	for _, v := range []struct {
		name, engine, node string
		replicas           int
	}{
		{"db", v1beta2.DataEngineV1, cut, 2}, {"cache", world.FullDataEngine(), cut, 2}, {shop, v1beta2.DataEngineV1, spare, 1},
	} {
		if err := s.step(ctx, fmt.Sprintf("%s volume %s is attached to %s", v.engine, v.name, v.node),
			func(ctx context.Context) (string, error) {
				if err := w.Order(ctx, v.name, v.engine, v.replicas, nil); err != nil {
					return "", err
				}
				return "its replicas were placed and started, then its engine", d.pod(ctx, v.name, v.node)
			}); err != nil {
			return err
		}
	}
	d.moved = []string{"db", "cache"}
	return s.step(ctx, world.FullDataEngine()+" volume archive was attached once by a ticket of the user, and is detached",
		func(ctx context.Context) (string, error) {
			if err := w.Order(ctx, archive, world.FullDataEngine(), 2, nil); err != nil {
				return "", err
			}
			if err := w.Attach(ctx, archive, spare, patience); err != nil {
				return "", err
			}
			detail := "SPDK lists its replicas as stopped: they are user data, not orphans"
			if world.IsReal() {
				detail = "its data lies in directories: no process is left"
			}
			return detail, w.LetGo(ctx, archive, patience)
		})
}

// pod is the ticket that the Kubernetes attach writes for a pod on a node.
func (d *demo) pod(ctx context.Context, volume, node string) error {
	id := "csi-" + volume + "-" + node
	if err := d.world.Ticket(ctx, volume, id, v1beta2.AttacherCSI, node, nil); err != nil {
		return err
	}
	return d.world.WaitTicket(ctx, volume, id, true, "", patience)
}

// competition lets a pod and a snapshot want the same volume on different nodes.
func (d *demo) competition(ctx context.Context) error {
	s, w := d.scenario, d.world
	s.section("A pod and a snapshot compete for a volume")
	const snapshot = "long-snapshot" // written by the demo: a ticket of snapshot-controller would end before the pod starts
	if err := s.step(ctx, "the pod of shop ends; a snapshot ticket requests the volume on "+spare,
		func(ctx context.Context) (string, error) {
			if err := w.DropTicket(ctx, shop, "csi-"+shop+"-"+spare); err != nil {
				return "", err
			}
			if err := w.Ticket(ctx, shop, snapshot, v1beta2.AttacherSnapshot, spare, nil); err != nil {
				return "", err
			}
			return "ticket " + snapshot + ", priority 800", w.WaitTicket(ctx, shop, snapshot, true, "", patience)
		}); err != nil {
		return err
	}
	if err := s.step(ctx, "a pod starts on "+helper+" and interrupts the snapshot", func(ctx context.Context) (string, error) {
		return "a workload has priority over background work", d.pod(ctx, shop, helper)
	}); err != nil {
		return err
	}
	if err := d.tables(ctx, "volumeattachments", "lhva"); err != nil {
		return err
	}
	if err := d.plugin(ctx, "why", shop); err != nil {
		return err
	}
	return s.step(ctx, "the pod ends, and the snapshot gets the volume again", func(ctx context.Context) (string, error) {
		if err := w.DropTicket(ctx, shop, "csi-"+shop+"-"+helper); err != nil {
			return "", err
		}
		if err := w.WaitTicket(ctx, shop, snapshot, true, "", patience); err != nil {
			return "", err
		}
		return "each ticket is served eventually", w.DropTicket(ctx, shop, snapshot)
	})
}

// outage partitions a node with two attached volumes; their pods move to another node.
func (d *demo) outage(ctx context.Context) error {
	s, w := d.scenario, d.world
	s.section("A node dies under attached volumes")
	for _, name := range d.moved {
		if err := d.remember(ctx, name); err != nil {
			return err
		}
	}
	if err := s.step(ctx, cut+" is partitioned from the network", func(ctx context.Context) (string, error) {
		// Its connections are closed first: a request that waits in one would end a stale engine when the node returns.
		if err := errors.Join(w.Part(ctx, cut), w.CutNode(ctx, cut)); err != nil {
			return "", err
		}
		if err := w.WaitNode(ctx, cut, v1beta2.ConditionFalse, patience); err != nil {
			return "", err
		}
		for _, engine := range world.DataEngines() {
			if err := w.WaitManager(ctx, cut, engine, v1beta2.InstanceManagerStateUnknown, patience); err != nil {
				return "", err
			}
		}
		return "its instances still run, but cannot be reached", nil
	}); err != nil {
		return err
	}
	for _, name := range d.moved {
		if err := s.step(ctx, "the pod of "+name+" moves to "+helper, func(ctx context.Context) (string, error) {
			if err := w.DropTicket(ctx, name, "csi-"+name+"-"+cut); err != nil {
				return "", err
			}
			return "the old engine was fenced first: it reaches no replica", d.pod(ctx, name, helper)
		}); err != nil {
			return err
		}
	}
	if err := d.tables(ctx, "volumes", "lhv"); err != nil {
		return err
	}
	return d.plugin(ctx, "doctor")
}

// remember records the engine of a volume on the partitioned node.
func (d *demo) remember(ctx context.Context, name string) error {
	engine := &v1beta2.Engine{}
	if err := d.world.Get(ctx, name+"-e-0", engine); err != nil {
		return err
	}
	v := &world.Volume{Name: name, DataEngine: engine.Spec.DataEngine, Engine: engine.Name}
	stale, err := d.world.Stale(ctx, v, cut)
	d.stale = append(d.stale, stale...)
	return err
}

// healing reconnects the node: the volumes get their second replica again.
func (d *demo) healing(ctx context.Context) error {
	s, w := d.scenario, d.world
	s.section("The node returns")
	if err := s.step(ctx, cut+" is reachable again", func(ctx context.Context) (string, error) {
		if err := errors.Join(w.Heal(ctx), w.JoinNode(ctx, cut)); err != nil {
			return "", err
		}
		return fmt.Sprintf("with %d stale engines", len(d.stale)), w.WaitNode(ctx, cut, v1beta2.ConditionTrue, patience)
	}); err != nil {
		return err
	}
	for _, name := range d.moved {
		if err := s.step(ctx, name+" is healthy again", func(ctx context.Context) (string, error) {
			return "the replica on " + cut + " was reused and rebuilt",
				w.WaitRobust(ctx, name, v1beta2.VolumeRobustnessHealthy, patience)
		}); err != nil {
			return err
		}
	}
	return nil
}
