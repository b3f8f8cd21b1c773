package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"drover.dev/drover/e2e/record"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// silence counts writes and calls for the attached volumes while nothing happens.
func (b *attachBench) silence(ctx context.Context) error {
	const during = 3 * time.Minute
	w := b.world
	if err := settled(ctx, w); err != nil {
		return err
	}
	w.API.Reset()
	w.DataPlane.Reset()
	b.logf("  watching %d attached volumes for %s", manyVolumes, during)
	if err := w.Pass(ctx, during); err != nil {
		return err
	}
	note := fmt.Sprintf("%d attached volumes, %s of real time", manyVolumes, during)
	for _, line := range append(w.API.Counts().Lines(write), w.DataPlane.Counts().Lines(call)...) {
		b.logf("    %s", line)
	}
	b.add(Result{Name: "attach.quiet.api_writes", Value: float64(w.API.Counts().Sum(write)), Unit: "count", Goal: "0", Runs: 1, Note: note})
	b.add(Result{Name: "attach.quiet.unary_calls", Value: float64(w.DataPlane.Counts().Sum(others)), Unit: "count", Goal: "0", Runs: 1,
		Note: "without periodic resyncs and engine polls"})
	b.add(Result{Name: "attach.quiet.look_calls_per_s", Value: float64(w.DataPlane.Counts().Sum(polls)) / during.Seconds(), Unit: "1/s",
		Goal: "<= 70", Runs: 1, Note: "periodic resyncs and engine polls; " + note})
	return nil
}

// flap lets the last node, which has no volume, go down and return.
func (b *attachBench) flap(ctx context.Context) error {
	return b.foreign(ctx, "attach.node_flap.foreign_reconciles", fmt.Sprintf("node-%d", hosts+1))
}

// foreign lets a node without any volume go down and return, and counts the reconciles that follow.
func (b *attachBench) foreign(ctx context.Context, name, previous string) error {
	w := b.world
	before, err := b.reconciles(ctx)
	if err != nil {
		return err
	}
	writes := w.API.Counts().Sum(volumeWrites)
	if err := w.CutNode(ctx, previous); err != nil {
		return err
	}
	if err := w.WaitNode(ctx, previous, v1beta2.ConditionFalse, time.Minute); err != nil {
		return err
	}
	if err := w.JoinNode(ctx, previous); err != nil {
		return err
	}
	if err := w.WaitNode(ctx, previous, v1beta2.ConditionTrue, time.Minute); err != nil {
		return err
	}
	if err := settled(ctx, w); err != nil {
		return err
	}
	after, err := b.reconciles(ctx)
	if err != nil {
		return err
	}
	for controller, count := range after {
		if count > before[controller] {
			b.logf("    %.0f  %s", count-before[controller], controller)
		}
	}
	b.add(Result{Name: name, Value: total(after) - total(before), Unit: "count", Goal: "0", Runs: 1,
		Note: fmt.Sprintf("reconciles of attach-controller while a node without volumes went down and came back; %d writes of volumes' "+
			"objects", w.API.Counts().Sum(volumeWrites)-writes)})
	return nil
}

// attachReconciles is the number of reconciles of each controller of attach-controller.
func (b *attachBench) reconciles(ctx context.Context) (map[string]float64, error) {
	return reconciles(ctx, b.world, world.AttachController)
}

// reconciles is the number of reconciles of each controller of a binary.
func reconciles(ctx context.Context, w *world.World, binary string) (map[string]float64, error) {
	lines, err := w.Metrics(ctx, binary)
	if err != nil {
		return nil, err
	}
	out := map[string]float64{}
	for _, line := range lines {
		metric, text, _ := strings.Cut(line, " ")
		_, labels, found := strings.Cut(metric, "controller_runtime_reconcile_total{controller=\"")
		if !found {
			continue
		}
		controller, _, _ := strings.Cut(labels, "\"")
		value, err := strconv.ParseFloat(strings.TrimSpace(text), 64)
		if err != nil {
			return nil, fmt.Errorf("reading the metric %s: %w", line, err)
		}
		out[controller] += value
	}
	return out, nil
}

func total(values map[string]float64) (sum float64) {
	for _, value := range values {
		sum += value
	}
	return sum
}

// volumeWrites are writes to the objects of a volume.
func volumeWrites(request record.Request) bool {
	if request.Kind != record.KindWrite {
		return false
	}
	switch request.Resource {
	case "volumes", "volumeattachments", "engines", "enginefrontends", "replicas":
		return true
	}
	return false
}
