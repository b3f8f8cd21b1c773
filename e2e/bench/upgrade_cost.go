package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"
)

// ofVolumes are the kinds whose objects belong to one volume; other writes count for the node.
var ofVolumes = map[string]bool{"volumes": true, "volumeattachments": true, "engines": true, "enginefrontends": true, "replicas": true,
	"snapshots": true}

// writesPerVolume counts what is written to the objects of one volume while its node is upgraded, from a healthy volume to a
// healthy volume.
func (b *upgradeBench) writesPerVolume(ctx context.Context) error {
	const count = 4
	name := func(i int) string { return fmt.Sprintf("cost-%d", i) }
	if err := b.volumesOn(ctx, name, count); err != nil {
		return err
	}
	var perVolume, perNode []float64
	refused := 0
	for run := range runs + 1 {
		if err := b.world.Quiet(ctx, time.Minute); err != nil {
			return err
		}
		b.world.API.Reset()
		if _, err := b.once(ctx); err != nil {
			return err
		}
		if err := b.world.Quiet(ctx, time.Minute); err != nil {
			return err
		}
		kinds, conflicts := b.counted()
		ofVolume, ofNode := 0, 0
		for kind, n := range kinds {
			if resource, _, _ := strings.Cut(strings.Fields(kind)[1], "/"); ofVolumes[resource] {
				ofVolume += n
			} else {
				ofNode += n
			}
		}
		if run == 0 {
			for _, kind := range slices.Sorted(maps.Keys(kinds)) {
				b.logf("    %-46s %.2f a volume", kind, float64(kinds[kind])/count)
			}
			b.logf("    to one of them, in order:")
			for _, line := range b.history(name(0)) {
				b.logf("    %s", line)
			}
			continue // the first run is printed, and not counted
		}
		refused += conflicts
		perVolume, perNode = append(perVolume, float64(ofVolume)/count), append(perNode, float64(ofNode))
		b.logf("  writes run %d of %d: %.2f a volume, %d for the node, %d refused as conflicts", run, runs, float64(ofVolume)/count, ofNode,
			conflicts)
	}
	b.add(Result{Name: "upgrade.api_writes_per_volume", Value: median(perVolume), Unit: "count", Runs: runs, Spread: spread(perVolume),
		Note: fmt.Sprintf("to the objects of each of %d volumes, 3 replicas, snapshot and rebuild included; leases and events not "+
			"counted; %d refused as conflicts in %d runs", count, refused, runs)})
	b.add(Result{Name: "upgrade.api_writes_per_node", Value: median(perNode), Unit: "count", Runs: runs, Spread: spread(perNode),
		Note: fmt.Sprintf("to the upgrade itself, the node, its instance manager and pods, with %d volumes", count)})
	return b.drop(ctx, name, count)
}

// counted are the writes since the last reset by verb and resource, and how many were refused.
func (b *upgradeBench) counted() (kinds map[string]int, refused int) {
	kinds = map[string]int{}
	for _, request := range b.world.API.Writes() {
		what := request.Request.Verb + " " + request.Request.Resource
		if request.Request.Subresource != "" {
			what += "/" + request.Request.Subresource
		}
		if request.Code < http.StatusBadRequest {
			kinds[what]++
		} else {
			refused++
		}
	}
	return kinds, refused
}

// growth upgrades a node with ten times as many volumes each time, up to manyUpgraded.
func (b *upgradeBench) growth(ctx context.Context) error {
	name := func(i int) string { return fmt.Sprintf("grow-%d", i) }
	had, before := 0, 0.0
	for _, count := range []int{10, 100, 500} {
		if count > manyUpgraded {
			b.logf("  %d volumes are not measured: --upgraded is %d", count, manyUpgraded)
			break
		}
		offset := had
		if err := b.volumesOn(ctx, func(i int) string { return name(offset + i) }, count-had); err != nil {
			return err
		}
		had = count
		var times []float64
		for range runsOf(count) {
			if err := b.trusted(ctx); err != nil {
				return err
			}
			b.world.API.Reset()
			took, err := b.once(ctx)
			if err != nil {
				return err
			}
			times = append(times, took)
			b.logf("  %d volumes: %.1f s", count, took)
		}
		note := fmt.Sprintf("3 replicas each, from the order to the last healthy volume; %.0f ms a volume",
			median(times)*1000/float64(count))
		if before > 0 {
			note += fmt.Sprintf("; %.1f times the time before", median(times)/before)
		}
		b.add(Result{Name: fmt.Sprintf("upgrade.node_time.%d", count), Value: median(times), Unit: "s", Runs: len(times),
			Spread: spread(times), Note: note})
		before = median(times)
	}
	return nil
}

// trusted waits until no writes follow and the last upgraded instance manager runs long enough: for 30 seconds after its start a v2
// instance manager may still rediscover instances, and is not replaced. In practice the next upgrade does not come sooner.
func (b *upgradeBench) trusted(ctx context.Context) error {
	const rediscovery = 30 * time.Second
	if err := settled(ctx, b.world); err != nil {
		return err
	}
	return b.world.WaitSlowly(ctx, "the instance manager to be trusted", time.Second, 2*rediscovery, func(context.Context) (string, error) {
		if left := time.Until(b.ended.Add(rediscovery)); left > 0 {
			return fmt.Sprintf("%s are left", left.Round(time.Second)), nil
		}
		return "", nil
	})
}

// runsOf is how often a node with this number of volumes is upgraded.
func runsOf(volumes int) int {
	if volumes > 10 {
		return 1
	}
	return runs
}
