// Command faults is the fault injection harness. It runs scenarios through recording proxies that number every API write
// and every call to the data plane that has an effect. It runs each scenario again with a controller killed right before
// and right after each of them; with stale caches; with a leader that is paused in the middle of its work while another
// takes over; with an etcd that is restored to an earlier state [ORP-5]; and with a misbehaving data plane.
// After each run it checks that the same end state was reached and that the invariants ORP-1 to ORP-4 held.
//
// Then it tests itself: it builds controllers with mutants, and fails unless each mutant is caught.
//
//	faults                      everything
//	faults --budget 10m         a seeded sample that ends within the time; DROVER_FAULTS_BUDGET does the same
//	faults --scenario O9        one scenario's crash points
//	faults --actor im-monitor   only the points at which this controller crashes
//	faults --shard 2/4          the second of four parts of the chosen cases
//	faults --sweep 8            a controller crashes at each eighth step of one run; the runs together cover every step
//	faults --pauses 100         instead, pause leaders with a signal for 20 to 60 s; a former leader must not write
//	faults --jumps 20           instead, set the wall clock of leaders, by seconds to hours, and set it back
//	faults --rules=all          instead, disable one rule of live upgrades and of attaching after the other; a test must fail
//	faults --rules=all --only X  of the rules, those whose name contains X
//	faults --mutants=only       only the mutants
//	faults --page FILE          writes the page that lists the rules and mutants, and runs nothing
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
	only     string
	page     string
	pauses   int
	jumps    int
}

func main() {
	var o options
	flag.DurationVar(&o.budget, "budget", budgetDefault(),
		"run a seeded sample that ends within this time; 0 runs everything (default from $DROVER_FAULTS_BUDGET)")
	flag.Uint64Var(&o.seed, "seed", uint64(time.Now().Unix()), "seed of the sample")
	flag.StringVar(&o.scenario, "scenario", "", "only the scenario with this ID, such as O9")
	flag.IntVar(&o.worlds, "worlds", 3, "number of control planes that run in parallel")
	flag.StringVar(&o.actor, "actor", "", "only the points at which this controller crashes, and no other failure; "+
		"of --pauses and --jumps only its leaders, of --rules only its rules (attach-controller)")
	flag.Var(&o.shard, "shard", "only the k-th of n parts of the cases, as k/n")
	flag.IntVar(&o.sweep, "sweep", 0, "also crash each controller at every n-th of its steps in one run; 0 runs no sweep")
	flag.BoolVar(&o.single, "points", true, "crash points one by one, and the other failures")
	flag.Var(enumflag.Words(&o.rules, "all", "first"), "rules",
		"instead, disable one rule of live upgrades and of attaching after the other; a test must fail: all packages, or first for the "+
			"rule's own package")
	flag.StringVar(&o.only, "only", "", "of --rules, only those whose name contains this")
	flag.StringVar(&o.page, "page", "", "write the page of rules and mutants to this file, and run nothing")
	flag.IntVar(&o.pauses, "pauses", 0, "instead, run this number of scenarios, each with a leader paused by a signal for 20 to 60 "+
		"s, with two processes of each controller")
	flag.IntVar(&o.jumps, "jumps", 0, "instead, run this number of scenarios, each with the wall clock of a leader set by seconds to "+
		"hours, and set back, with two processes of each controller")
	o.mutants = "yes"
	flag.Var(enumflag.Words(&o.mutants, "yes", "no", "only"), "mutants",
		"run the mutants: yes, no or only")
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
	if o.page != "" {
		return os.WriteFile(o.page, []byte(page()), 0o644)
	}
	if o.rules != "" {
		return h.rules(ctx, o)
	}
	h.logf("seed %d", o.seed)
	if o.pauses > 0 && o.jumps > 0 {
		return errors.New("--pauses and --jumps are separate runs: choose one")
	}
	if o.pauses > 0 {
		return errors.Join(h.pauses(ctx, o), h.verdict(0, 0))
	}
	if o.jumps > 0 {
		return errors.Join(h.jumps(ctx, o), h.verdict(0, 0))
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

// verdict prints the totals, and returns an error when an invariant was violated or a mutant was not caught.
func (h *harness) verdict(caught, mutated int) error {
	fmt.Fprintf(h.out, "\nfaults.points      %d\nfaults.violations  %d\nnever reached      %d\ncontrollers killed %d times\n"+
		"mutants            %d of %d caught\ntime               %s\n",
		h.points, len(h.violations), h.unreached, h.killed, caught, mutated, time.Since(h.began).Round(time.Second))
	for _, violation := range h.violations {
		fmt.Fprintf(h.out, "  %s\n", violation)
	}
	if len(h.violations) > 0 {
		return fmt.Errorf("%d violations", len(h.violations))
	}
	if caught != mutated {
		return fmt.Errorf("%d mutants were not caught: the harness does not detect them", mutated-caught)
	}
	return nil
}
