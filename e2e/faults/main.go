// Command faults is the proof harness. It tells scenarios through recording proxies that number every API write and
// every call to the data plane that has an effect, and tells each again with a controller killed right before and
// right after each of them; with caches that stand still; with a leader that is frozen in the middle of its work while
// another takes over; with an etcd that is restored to an earlier state [ORP-5]; and with a data plane that misbehaves.
// After each run it checks that the same end state was reached and that the invariants ORP-1 to ORP-4 held.
//
// Then it proves itself: it builds controllers with mistakes planted in them and insists on catching each.
//
//	faults                      everything
//	faults --budget 10m         a seeded sample that ends within the time; DROVER_FAULTS_BUDGET does the same
//	faults --story O9           one scenario's points
//	faults --actor im-monitor   only the points at which this controller dies
//	faults --shard 2/4          the second of four parts of everything that is chosen
//	faults --comb 8             a controller dies at each eighth of its steps in one run; eight runs and both sides have every step in them
//	faults --pauses 100         instead, leaders are stopped by a signal for 20 to 60 s, with two processes of each controller: nobody writes after them
//	faults --rules=all          leaves out each rule of live upgrades, and insists that a test fails
//	faults --plants=only        only the planted mistakes
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"drover.dev/drover/e2e/enumflag"
)

type options struct {
	budget   time.Duration
	seed     uint64
	scenario string
	mutants  string
	worlds   int
	actor    string
	shard    shard
	sweep    int
	single   bool
	rules    string
	pauses   int
}

func main() {
	var o options
	flag.DurationVar(&o.budget, "budget", budgetDefault(),
		"run a seeded sample that ends within this time; 0 runs everything (default from $DROVER_FAULTS_BUDGET)")
	flag.Uint64Var(&o.seed, "seed", uint64(time.Now().Unix()), "seed of the sample")
	flag.StringVar(&o.scenario, "story", "", "only this scenario, as O9")
	flag.IntVar(&o.worlds, "worlds", 3, "how many control planes work side by side")
	flag.StringVar(&o.actor, "actor", "", "only the points at which this controller dies, and no other trouble")
	flag.Var(&o.shard, "shard", "only the k-th of n parts of the trials, as k/n")
	flag.IntVar(&o.sweep, "comb", 0, "also let each controller die at every so-manieth of its steps in one run; 0 does not")
	flag.BoolVar(&o.single, "points", true, "crash points one by one, and the other troubles")
	flag.Func("rules", "instead, leave out each rule of live upgrades and insist that a test fails: all, or first for its own package only",
		enumflag.Words(&o.rules, "all", "first"))
	flag.IntVar(&o.pauses, "pauses", 0, "instead, tell so many scenarios in each of which a leader is stopped by a signal for 20 to 60 "+
		"s, with two processes of each controller")
	o.mutants = "yes"
	flag.Func("plants", "planted mistakes: yes, no or only (default yes)", enumflag.Words(&o.mutants, "yes", "no", "only"))
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "faults: %v\n", err)
		os.Exit(1)
	}
}

func budgetDefault() time.Duration {
	budget, err := time.ParseDuration(os.Getenv("DROVER_FAULTS_BUDGET"))
	if err != nil {
		return 0
	}
	return budget
}

func run(ctx context.Context, o options) (err error) {
	h := &harness{tally: &tally{out: os.Stdout, began: time.Now()}}
	defer func() { err = errors.Join(err, h.stop()) }()
	if o.rules != "" {
		return h.rules(ctx, o)
	}
	h.logf("seed %d", o.seed)
	if o.pauses > 0 {
		return errors.Join(h.pauses(ctx, o), h.verdict(0, 0))
	}
	if o.mutants != "only" {
		if err := h.allPoints(ctx, o); err != nil {
			return err
		}
	}
	caught, mutated := 0, 0
	if o.mutants != "no" {
		if caught, mutated, err = h.mutants(ctx, o); err != nil {
			return err
		}
	}
	return h.verdict(caught, mutated)
}

// verdict prints the sum, and is an error when anything was violated or a plant was not caught.
func (h *harness) verdict(caught, mutated int) error {
	fmt.Fprintf(h.out, "\nfaults.points      %d\nfaults.violations  %d\nnever reached      %d\ncontrollers killed %d times\nplanted "+
		"mistakes   %d of %d caught\ntime               %s\n",
		h.points, len(h.violations), h.unreached, h.killed, caught, mutated, time.Since(h.began).Round(time.Second))
	for _, violation := range h.violations {
		fmt.Fprintf(h.out, "  %s\n", violation)
	}
	if len(h.violations) > 0 {
		return fmt.Errorf("%d violations", len(h.violations))
	}
	if caught != mutated {
		return fmt.Errorf("%d planted mistakes were not caught: the harness is blind to them", mutated-caught)
	}
	return nil
}
