package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// manyUpgraded is the most volumes of a node whose upgrade is measured.
var manyUpgraded = 100

// upgradePart is one part of the group: pauses, writes or growth; empty means all.
var upgradePart string

// upgradePatience is how long one upgrade of a node may take.
const upgradePatience = 30 * time.Minute

// upgrade measures what the upgrade of a node's v2 data engine costs: the longest pause that a workload sees, what is lost
// (nothing), the writes to the API server for each volume, and how the time grows with the volumes of the node.
func upgrade(ctx context.Context, r *report) (err error) {
	w, err := world.Start(ctx, world.Options{RealTimes: true, Nodes: threeNodes, Record: true, Attach: true, Snapshots: true,
		Upgrades: true, Log: r.logf, Flags: measured(),
		SimulatorArgs: append(instant(), "--copy-time", "0")})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	b := &upgradeBench{report: r, world: w, ended: time.Now()}
	if b.seen, err = watchVolumes(ctx, w); err != nil {
		return err
	}
	if b.patch, _, err = floor(ctx, w); err != nil {
		return err
	}
	for _, part := range []struct {
		name string
		run  func(context.Context) error
	}{{"pauses", b.pauses}, {"writes", b.writesPerVolume}, {"growth", b.growth}} {
		if upgradePart != "" && upgradePart != part.name {
			continue
		}
		if err := part.run(ctx); err != nil {
			return err
		}
	}
	return nil
}

type upgradeBench struct {
	*report
	world *world.World
	seen  *volumes
	patch float64   // the API server's own status patch, ms
	done  int       // how many upgrades were done
	ended time.Time // when the last of them ended, or the nodes came
}

// volumesOn creates volumes with three replicas that are attached to the node, and waits until all are healthy.
func (b *upgradeBench) volumesOn(ctx context.Context, name func(int) string, count int) error {
	w := b.world
	if err := world.Each(ctx, count, func(ctx context.Context, i int) error {
		if err := w.Order(ctx, name(i), v1beta2.DataEngineV2, 3, nil); err != nil {
			return err
		}
		return w.Ticket(ctx, name(i), benchTicket, v1beta2.AttacherCSI, node, nil)
	}); err != nil {
		return err
	}
	return world.Each(ctx, count, func(ctx context.Context, i int) error {
		_, err := b.seen.expect(name(i), healthy)(ctx)
		return err
	})
}

func (b *upgradeBench) drop(ctx context.Context, name func(int) string, count int) error {
	return world.Each(ctx, count, func(ctx context.Context, i int) error {
		gone := b.seen.expect(name(i), detached)
		if err := b.world.DropTicket(ctx, name(i), benchTicket); err != nil {
			return err
		}
		if _, err := gone(ctx); err != nil {
			return err
		}
		if err := b.world.DeleteVolume(ctx, name(i)); err != nil {
			return err
		}
		return b.world.WaitVolumeGone(ctx, name(i), 5*time.Minute)
	})
}

// once upgrades the node to a new image, and returns the seconds from the order to the end.
func (b *upgradeBench) once(ctx context.Context) (float64, error) {
	b.done++
	name := fmt.Sprintf("bench-%d", b.done)
	began := time.Now()
	if err := b.world.Upgrade(ctx, name, "longhornio/longhorn-instance-manager:"+name, func(spec *v1beta2.DataEngineUpgradeManagerSpec) {
		spec.Nodes = []string{node}
	}); err != nil {
		return 0, err
	}
	m, err := b.world.WaitUpgrade(ctx, name, upgradePatience, v1beta2.UpgradeStateCompleted, v1beta2.UpgradeStateError)
	if err == nil && m.Status.State != v1beta2.UpgradeStateCompleted {
		err = fmt.Errorf("upgrade %s failed: %s", name, m.Status.ErrorMessage)
	}
	b.ended = time.Now()
	return b.ended.Sub(began).Seconds(), err
}
