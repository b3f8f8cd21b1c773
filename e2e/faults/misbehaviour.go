package main

import (
	"context"

	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/world"
)

type misbehaviour struct {
	name   string
	inject func(context.Context, *world.World) error
}

// misbehaviours are the failures of the data plane, one at a time.
func misbehaviours() []misbehaviour {
	near := scenarios.Near
	return []misbehaviour{
		fault("partitioned", world.Fault{Kind: "partition", Mode: "cut", Node: near}),
		fault("no answers", world.Fault{Kind: "partition", Mode: "blackhole", Node: near}),
		fault("slow", world.Fault{Kind: "latency", Delay: "300ms"}),
		fault("unavailable now and then", world.Fault{Kind: "error", Code: "Unavailable", Times: 3}),
		fault("deletions without an answer", world.Fault{Kind: "error", Code: "Unavailable", Method: "InstanceDelete", After: true,
			Times: 2}),
		fault("deletions refused", world.Fault{Kind: "error", Code: "Internal", Method: "InstanceDelete", Times: 2}),
		fault("late answers to lists", world.Fault{Kind: "latency", Method: "InstanceList", After: true, Delay: "700ms"}),
		fault("no events", world.Fault{Kind: "events", Mode: "drop"}),
		fault("duplicated events", world.Fault{Kind: "events", Mode: "duplicate"}),
		fault("late events", world.Fault{Kind: "events", Mode: "delay", Delay: "1s"}),
		// Once: a list that is wrong for longer than the absence gap cannot be distinguished from a correct one.
		fault("half of a list", world.Fault{Kind: "partial-list", Node: near, Fraction: 0.5, Times: 1}),
		fault("no UUIDs", world.Fault{Kind: "empty-uuid", Node: near}),
		fault("garbage", world.Fault{Kind: "garbage", Mode: "types", Node: near}),
	}
}

func fault(name string, f world.Fault) misbehaviour {
	return misbehaviour{name, func(ctx context.Context, w *world.World) error { return w.Inject(ctx, f) }}
}
