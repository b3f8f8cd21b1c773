package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"drover.dev/drover/e2e/record"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// The crowd: many attached volumes with three replicas each, on many nodes. One more node has none.
var (
	crowdVolumes = 5000
	crowdNodes   = 100
	crowdQuiet   = 10 * time.Minute
)

// crowdOfVolumes measures what a crowd of volumes costs while nothing happens, and what follows when one of its nodes is lost and returns.
func crowdOfVolumes(ctx context.Context, r *report) (err error) {
	w, err := worldOfMany(ctx, r, crowdNodes+1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	b := &crowdBench{&attachBench{report: r, world: w}}
	for _, part := range []func(context.Context) error{b.fill, b.rest, b.loseNode, b.loseEmptyNode} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

type crowdBench struct{ *attachBench }

func (b *crowdBench) size() string {
	return fmt.Sprintf("%d attached volumes, %d replicas, %d nodes", crowdVolumes, 3*crowdVolumes, crowdNodes)
}

// fill makes and attaches the volumes, as many on each node.
func (b *crowdBench) fill(ctx context.Context) error {
	if err := b.order(ctx, crowdVolumes, crowdNodes); err != nil {
		return err
	}
	if err := world.Each(ctx, crowdVolumes, func(ctx context.Context, i int) error {
		return b.ticket(ctx, many(i), hostOf(i, crowdNodes))
	}); err != nil {
		return err
	}
	return b.healthy(ctx)
}

// crowdPause is how often all volumes are read: 20 MB for 5,000 of them.
const crowdPause = 5 * time.Second

// healthy waits until every volume is attached and has all its replicas.
func (b *crowdBench) healthy(ctx context.Context) error {
	const what = "all volumes to be attached and healthy"
	return b.await(ctx, what, crowdPause, 3*time.Hour, crowdVolumes, func(ctx context.Context) (int, error) {
		var list v1beta2.VolumeList
		if err := b.world.List(ctx, &list); err != nil {
			return 0, err
		}
		healthy := 0
		for i := range list.Items {
			if s := list.Items[i].Status; s.State == v1beta2.VolumeStateAttached && s.Robustness == v1beta2.VolumeRobustnessHealthy {
				healthy++
			}
		}
		return healthy, nil
	})
}

// rest counts writes and processor time while nothing happens.
func (b *crowdBench) rest(ctx context.Context) error {
	w := b.world
	if err := settled(ctx, w); err != nil {
		return err
	}
	before, err := used(w, "")
	if err != nil {
		return err
	}
	w.API.Reset()
	b.logf("  nothing happens for %s", crowdQuiet)
	if err := w.Pass(ctx, crowdQuiet); err != nil {
		return err
	}
	after, err := used(w, "")
	if err != nil {
		return err
	}
	for _, line := range w.API.Counts().Lines(write) {
		b.logf("    %s", line)
	}
	thousands, hours := float64(crowdVolumes)/1000, crowdQuiet.Hours()
	for _, controller := range w.Controllers() {
		b.logf("    %-20s %7.1f s of processor time per 1,000 volumes and hour", controller,
			(after[controller]-before[controller])/thousands/hours)
	}
	note := fmt.Sprintf("%s, %s of real time", b.size(), crowdQuiet)
	b.add(Result{Name: "crowd.quiet_writes", Value: float64(w.API.Counts().Sum(write)), Unit: "count", Goal: "0", Runs: 1, Note: note})
	b.add(Result{Name: "crowd.cpu_s_per_1000_volumes_and_hour", Value: (total(after) - total(before)) / thousands / hours, Unit: "s",
		Goal: "<= 60", Runs: 1, Note: "all five controllers; " + note})
	return nil
}

// loseNode cuts a node off until all its replicas have failed, and lets it return.
func (b *crowdBench) loseNode(ctx context.Context) error {
	w, lost := b.world, hostOf(0, crowdNodes)
	concerned, err := b.concerned(ctx, lost)
	if err != nil {
		return err
	}
	w.API.Reset()
	b.logf("  %s, with engines or replicas of %d volumes, is lost and returns", lost, len(concerned))
	if err := w.CutNode(ctx, lost); err != nil {
		return err
	}
	if err := w.WaitNode(ctx, lost, v1beta2.ConditionFalse, 5*time.Minute); err != nil {
		return err
	}
	if err := settled(ctx, w); err != nil {
		return err
	}
	if err := w.JoinNode(ctx, lost); err != nil {
		return err
	}
	if err := w.WaitNode(ctx, lost, v1beta2.ConditionTrue, 5*time.Minute); err != nil {
		return err
	}
	if err := b.healthy(ctx); err != nil {
		return err
	}
	rebuilt := time.Now()
	if err := settled(ctx, w); err != nil {
		return err
	}
	last, foreign := rebuilt, 0
	for _, request := range w.API.Writes() {
		if volume, ok := volumeOf(request.Request); ok {
			if !concerned[volume] {
				foreign++
			}
			if request.Ended.After(last) {
				last = request.Ended
			}
		}
	}
	note := fmt.Sprintf("%s; %s with engines or replicas of %d volumes was lost and returned", b.size(), lost, len(concerned))
	b.add(Result{Name: "crowd.node_loss.settled", Value: last.Sub(rebuilt).Seconds(), Unit: "s", Goal: "<= 60", Runs: 1,
		Note: fmt.Sprintf("from the last rebuild, looked for every %s, to the last write of a volume's object; %s", crowdPause, note)})
	b.add(Result{Name: "crowd.node_loss.foreign_writes", Value: float64(foreign), Unit: "count", Goal: "0", Runs: 1,
		Note: "to objects of other volumes; " + note})
	return nil
}

// loseEmptyNode counts what is reconciled although it is not of the node that is lost.
func (b *crowdBench) loseEmptyNode(ctx context.Context) error {
	return b.foreign(ctx, "crowd.node_loss.foreign_reconciles", fmt.Sprintf("node-%d", crowdNodes+1))
}

// concerned are the volumes with an engine or a replica on the node.
func (b *crowdBench) concerned(ctx context.Context, node string) (map[string]bool, error) {
	out := map[string]bool{}
	var replicas v1beta2.ReplicaList
	if err := b.world.List(ctx, &replicas); err != nil {
		return nil, err
	}
	for i := range replicas.Items {
		if spec := replicas.Items[i].Spec; spec.NodeID == node {
			out[spec.VolumeName] = true
		}
	}
	for i := range crowdVolumes {
		if hostOf(i, crowdNodes) == node {
			out[many(i)] = true
		}
	}
	return out, nil
}

// volumeOf is the volume of the object that is written.
func volumeOf(request record.Request) (string, bool) {
	if !volumeWrites(request) {
		return "", false
	}
	name := request.Object
	for _, part := range []string{"-r-", "-e-", "-ef-"} {
		name, _, _ = strings.Cut(name, part)
	}
	return name, name != ""
}
