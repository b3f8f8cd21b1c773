// Command skew proves that controllers of different releases work together. It runs each controller of an earlier commit with
// everything else current, then each current controller with everything else of the earlier commit, then only the earlier custom
// resource definitions, then only the current ones, and runs the scenarios of that controller: they must reach the same end and
// keep the same invariants.
//
//	skew                            against the commit in e2e/skew/BASE
//	skew --base v0.3.0              against another one
//	skew --only im-monitor          only the mixes whose description has this in it
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"drover.dev/drover/e2e/catalog"
	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/world"
)

// within is how long one scenario may take.
const within = 6 * time.Minute

func main() {
	base := flag.String("base", "", "the earlier commit; the one in e2e/skew/BASE unless given")
	only := flag.String("only", "", "only the mixes whose description has this in it")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx, *base, *only)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "skew: %v\n", err)
		os.Exit(1)
	}
}

// run runs the scenarios of every mix, also after one that failed.
func run(ctx context.Context, base, only string) (err error) {
	old, err := checkOut(ctx, base)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(old)) }()
	began, reported, worlds := time.Now(), 0, 0
	var failed []error
	for _, m := range mixes() {
		if !strings.Contains(m.what, only) {
			continue
		}
		for _, topology := range m.topologies {
			fmt.Printf("%7.1fs  %s\n", time.Since(began).Seconds(), m.what)
			n, err := runAll(ctx, m.options(topology, old), catalog.Of(topology))
			if ctx.Err() != nil {
				return errors.Join(context.Cause(ctx), err)
			}
			if err != nil {
				failed = append(failed, fmt.Errorf("%s: %w", m.what, err))
				fmt.Printf("         FAILED  %v\n", err)
			}
			reported, worlds = reported+n, worlds+1
		}
	}
	fmt.Printf("\nskew.worlds   %d\nskew.scenarios  %d\nskew.failed   %d\ntime          %s\n", worlds, reported, len(failed),
		time.Since(began).Round(time.Second))
	return errors.Join(failed...)
}

// run runs scenarios in one World with these options until one fails, and returns how many passed.
func runAll(ctx context.Context, options world.Options, of []scenarios.Scenario) (reported int, err error) {
	w, err := world.Start(ctx, options)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	for _, scenario := range of {
		if err := one(ctx, w, scenario); err != nil {
			w.ShowLogs(os.Stderr, scenario.ID+" failed", 200)
			return reported, fmt.Errorf("%s: %w", scenario.ID, err)
		}
		reported++
		fmt.Printf("         %-4s ok  %s\n", scenario.ID, scenario.Sentence)
	}
	return reported, nil
}

func one(ctx context.Context, w *world.World, scenario scenarios.Scenario) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	if _, err := scenario.Run(ctx, w, nil); err != nil {
		return err
	}
	return w.Sweep(ctx)
}
