// Command demo shows Drover's main job on a real Kubernetes API server with simulated nodes: volumes are attached by
// tickets, a pod and a snapshot compete for one, snapshots are taken and pruned, one is backed up and restored, a claim's volume
// lives by the calls of Longhorn's CSI plugin, a node dies under two volumes and they move; the node returns with stale engines,
// which are found and cleaned up. Then the v2 data engine of all three nodes is replaced under load, one upgrade is refused, and
// one fails half-way and is resumed. Separate binaries do it, and no claimed instance or data is ever changed.
//
// Each line is printed once its step is done and checked; a failed step ends the demo with exit code 1 and the reason.
// --keep leaves everything running at the end and prints commands to explore it.
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

	"golang.org/x/term"

	"drover.dev/drover/e2e/world"
)

func main() {
	keep := flag.Bool("keep", false, "keep everything running at the end and print commands to explore it; Ctrl-C ends it")
	flag.Usage = func() {
		fmt.Fprintf(flag.CommandLine.Output(),
			"Shows Drover's main job on a real Kubernetes API server with three simulated nodes, in about a minute.\n\n"+
				"  make demo                      run it\n  make demo DEMO_FLAGS=--keep    keep everything running at the end, to explore it\n\n")
		flag.PrintDefaults()
	}
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx, *keep)
	interrupted := ctx.Err() != nil
	stop()
	switch {
	case interrupted: // whatever failed then failed for it
		fmt.Println("\nStopped; everything was removed.")
		os.Exit(130)
	case err != nil:
		fmt.Fprintf(os.Stderr, "\ndemo: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, keep bool) (err error) {
	colour := term.IsTerminal(int(os.Stdout.Fd())) && os.Getenv("NO_COLOR") == ""
	s := &scenario{out: os.Stdout, colour: colour, began: time.Now()}
	s.section(map[bool]string{true: "A real control plane, three nodes with real instance managers, six controllers and api-gateway",
		false: "A real control plane, three simulated nodes, six controllers and api-gateway"}[world.IsReal()])
	w, err := world.Start(ctx, world.Options{Nodes: nodes, Log: s.note, Attach: true, Snapshots: true, Upgrades: true, Disks: true,
		Gateway: true, Policies: true})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if err := world.Build(ctx, w.Dir, nil, world.Plugin); err != nil {
		return err
	}
	d := &demo{scenario: s, world: w}
	if err := d.run(ctx); err != nil {
		return err
	}
	s.summary()
	if keep {
		return d.keep(ctx)
	}
	return nil
}
