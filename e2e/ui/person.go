package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// person uses the interface and looks at the cluster.
type person struct {
	*browser
	world *world.World
	steps int
	began time.Time
}

// useAll goes through all pages and all that a person does there.
func (p *person) useAll(ctx context.Context) error {
	p.began = time.Now()
	if err := p.prepare(ctx); err != nil {
		return err
	}
	failed := 0 // a part that fails does not hide the faults of the next
	for _, part := range []func(context.Context) error{p.seePages, p.useVolume, p.followChanges, p.readRefusals, p.deleteOrphan,
		p.switchAutoDeletionOn, p.changeNode} {
		if err := part(ctx); err != nil {
			fmt.Printf("%6.1fs  ✗ %v\n", time.Since(p.began).Seconds(), err)
			failed++
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d parts failed, after %d steps that passed", failed, p.steps)
	}
	fmt.Printf("\nAll %d steps passed in %.0f s.\n", p.steps, time.Since(p.began).Seconds())
	return nil
}

// prepare creates a volume with a snapshot and a recurring job, so that pages have something to show.
func (p *person) prepare(ctx context.Context) error {
	w := p.world
	if err := w.Order(ctx, "shown", v1beta2.DataEngineV1, 2, nil); err != nil {
		return err
	}
	if err := w.Attach(ctx, "shown", "node-1", patience); err != nil {
		return err
	}
	if err := w.Snapshot(ctx, "shown", "shown-snapshot"); err != nil {
		return err
	}
	return w.WaitSnapshot(ctx, "shown-snapshot", v1beta2.SnapshotReady, v1beta2.ReasonReady, patience)
}

// step is one thing that a person does, and its title in the output.
type step struct {
	title string
	do    func() error
}

// inOrder does steps until the first that fails.
func (p *person) inOrder(steps ...step) error {
	for _, s := range steps {
		if err := p.step(s.title, s.do); err != nil {
			return err
		}
	}
	return nil
}

// step does one step, takes a picture, and fails if the console has an error.
func (p *person) step(title string, do func() error) error {
	err := do()
	if pictured := p.picture(strings.Map(letters, title)); err == nil {
		err = pictured
	}
	if faults := p.takeFaults(); len(faults) > 0 {
		err = errors.Join(err, fmt.Errorf("the console of the browser: %s", strings.Join(faults, "\n")))
	}
	if err != nil {
		return fmt.Errorf("%s: %w", title, err)
	}
	p.steps++
	fmt.Printf("%6.1fs  ✓ %s\n", time.Since(p.began).Seconds(), title)
	return nil
}

// letters makes the name of a file of a title.
func letters(r rune) rune {
	if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' {
		return r
	}
	return '-'
}
