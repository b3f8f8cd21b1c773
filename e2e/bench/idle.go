package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// idleFor is how long nothing happens while one value is measured. Within the default the runtime collects garbage at least once.
var idleFor = 4 * time.Minute

const (
	// idleStart is how long after the last change the work of a start is over: see settleMemory in shared/runkit.
	idleStart   = 45 * time.Second
	oneVolume   = 1
	idleVolumes = 50
	idleStandby = "-standby"
)

// idle measures what all five controllers cost while nothing happens, each with a standby: writes of leases, processor and memory.
func idle(ctx context.Context, r *report) (err error) {
	w, err := world.Start(ctx, world.Options{RealTimes: true, Nodes: threeNodes, Record: true, Attach: true, Snapshots: true,
		Upgrades: true, Log: r.logf, Flags: measured()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	b := &idleBench{report: r, world: w}
	for _, controller := range w.Controllers() {
		standby, err := w.StartController(ctx, controller, idleStandby)
		if err != nil {
			return err
		}
		if err := w.WaitReady(ctx, standby, time.Minute); err != nil {
			return err
		}
	}
	for _, volumes := range []int{oneVolume, idleVolumes} {
		if err := b.measure(ctx, volumes); err != nil {
			return err
		}
	}
	return nil
}

type idleBench struct {
	*report
	world   *world.World
	volumes int
}

// attach makes and attaches volumes until there are so many, and waits until the work that follows is over.
func (b *idleBench) attach(ctx context.Context, volumes int) error {
	for ; b.volumes < volumes; b.volumes++ {
		name := fmt.Sprintf("idle-%d", b.volumes)
		if err := b.world.Order(ctx, name, v1beta2.DataEngineV1, 3, nil); err != nil {
			return err
		}
		if err := b.world.Attach(ctx, name, threeNodes[b.volumes%len(threeNodes)], time.Minute); err != nil {
			return err
		}
	}
	return b.world.Pass(ctx, idleStart)
}

func (b *idleBench) measure(ctx context.Context, volumes int) error {
	if err := b.attach(ctx, volumes); err != nil {
		return err
	}
	before, err := used(b.world, "")
	if err != nil {
		return err
	}
	besides, err := used(b.world, idleStandby)
	if err != nil {
		return err
	}
	b.world.API.Reset()
	b.logf("  %d volumes, all attached: nothing happens for %s", volumes, idleFor)
	if err := b.rest(ctx, volumes); err != nil {
		return err
	}
	after, err := used(b.world, "")
	if err != nil {
		return err
	}
	afterBesides, err := used(b.world, idleStandby)
	if err != nil {
		return err
	}
	memory, err := megabytes(b.world, "", (*world.Process).RSS)
	if err != nil {
		return err
	}
	memoryBesides, err := megabytes(b.world, idleStandby, (*world.Process).RSS)
	if err != nil {
		return err
	}
	for _, controller := range b.world.Controllers() {
		b.logf("    %-20s %6.3f s a minute, %3.0f MB; its standby %6.3f s a minute, %3.0f MB", controller,
			(after[controller]-before[controller])/idleFor.Minutes(), memory[controller],
			(afterBesides[controller]-besides[controller])/idleFor.Minutes(), memoryBesides[controller])
	}
	size := fmt.Sprintf("the five leaders, %d attached volumes of 3 replicas, %s", volumes, idleFor)
	b.add(Result{Name: fmt.Sprintf("idle.cpu_s_per_minute.%d_volumes", volumes), Value: (total(after) - total(before)) / idleFor.Minutes(),
		Unit: "s", Goal: map[int]string{oneVolume: "<= 0.2", idleVolumes: "<= 0.4"}[volumes], Runs: 1,
		Note: fmt.Sprintf("%s; the five standbys %.3f", size, (total(afterBesides)-total(besides))/idleFor.Minutes())})
	if volumes == idleVolumes {
		b.add(Result{Name: "idle.rss", Value: total(memory), Unit: "MB", Goal: "<= 150", Runs: 1,
			Note: fmt.Sprintf("%s; the five standbys %.0f", size, total(memoryBesides))})
		b.add(Result{Name: "idle.lease_writes_per_s", Value: float64(len(b.world.API.Leases())) / idleFor.Seconds(), Unit: "1/s", Goal: "<= 1",
			Runs: 1, Note: "all leases of the five, each with a standby"})
	}
	return nil
}

// rest lets the time pass, and takes profiles of it if they are wanted. Writing a profile costs some processor time itself.
func (b *idleBench) rest(ctx context.Context, volumes int) error {
	all, name := processesOf(b.world, "", idleStandby), fmt.Sprintf("%d-volumes", volumes)
	profiles, err := processorProfiles(ctx, name, idleFor, all...)
	if err != nil {
		return err
	}
	if err := errors.Join(b.world.Pass(ctx, idleFor), profiles()); err != nil || profileDirectory == "" {
		return err
	}
	for _, process := range all {
		file, err := profileFile(process.Name + "-" + name)
		if err != nil {
			return err
		}
		if err := errors.Join(process.Profile(ctx, "heap?gc=1", file+".heap.pb.gz"),
			process.Profile(ctx, "goroutine?debug=1", file+".goroutines.txt")); err != nil {
			return err
		}
	}
	return nil
}
