package main

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	"drover.dev/drover/e2e/record"
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
	var perVolume, perNode, reads []float64
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
			for _, line := range append(b.history(name(0)), b.world.API.Counts().Lines(readsOfVolumes)...) {
				b.logf("    %s", line)
			}
			continue // the first run is printed, and not counted
		}
		refused += conflicts
		perVolume, perNode = append(perVolume, float64(ofVolume)/count), append(perNode, float64(ofNode))
		reads = append(reads, float64(b.world.API.Counts().Sum(readsOfVolumes))/count)
		b.logf("  writes run %d of %d: %.2f a volume, %d for the node, %d refused as conflicts", run, runs, float64(ofVolume)/count, ofNode,
			conflicts)
	}
	b.add(Result{Name: "upgrade.api_writes_per_volume", Value: median(perVolume), Unit: "count", Goal: "<= 45", Runs: runs,
		Spread: spread(perVolume),
		Note: fmt.Sprintf("to the objects of each of %d volumes, 3 replicas, snapshot and rebuild included; leases and events not "+
			"counted; %d refused as conflicts in %d runs", count, refused, runs)})
	b.add(Result{Name: "upgrade.api_reads_per_volume", Value: median(reads), Unit: "count", Runs: runs, Spread: spread(reads),
		Note: fmt.Sprintf("uncached, of all binaries, of the objects of each of %d volumes, from the order to the end", count)})
	b.add(Result{Name: "upgrade.api_writes_per_node", Value: median(perNode), Unit: "count", Runs: runs, Spread: spread(perNode),
		Note: fmt.Sprintf("to the upgrade itself, the node, its instance manager and pods, with %d volumes", count)})
	return b.drop(ctx, name, count)
}

func readsOfVolumes(request record.Request) bool {
	return request.Kind == record.KindRead && ofVolumes[request.Resource]
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
