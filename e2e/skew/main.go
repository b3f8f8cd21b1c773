// Command skew proves that controllers of different releases work side by side. It takes each controller, and then all the
// others, and then the custom resource definitions, as they were at an earlier commit, lets them run with everything else as
// it is now, and tells the stories of orphans: the same end, and the same invariants.
//
//	skew                     against the commit in e2e/skew/BASE
//	skew --base v0.3.0       against another one
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"

	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/world"
)

func main() {
	base := flag.String("base", "", "the earlier commit; the one in e2e/skew/BASE unless given")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	err := run(ctx, *base)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "skew: %v\n", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, base string) (err error) {
	old, err := checkOut(ctx, base)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(old)) }()
	for _, m := range []struct {
		what    string
		options world.Options
	}{
		{"orphan-controller of then, the rest of now", world.Options{Sources: map[string]string{world.OrphanController: old}}},
		{"im-monitor of then, the rest of now", world.Options{Sources: map[string]string{world.IMMonitor: old}}},
		{"custom resource definitions of then, controllers of now", world.Options{Definitions: old}},
		{"controllers of then, custom resource definitions of now", world.Options{Sources: map[string]string{world.IMMonitor: old, world.OrphanController: old}}},
	} {
		fmt.Println(m.what)
		if err := tell(ctx, m.options); err != nil {
			return fmt.Errorf("%s: %w", m.what, err)
		}
	}
	return nil
}

// tell tells every story of orphans in a World of these options.
func tell(ctx context.Context, options world.Options) (err error) {
	options.Nodes, options.Record = scenarios.Nodes, true
	w, err := world.Start(ctx, options)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	for _, story := range scenarios.Stories() {
		if _, err := story.Tell(ctx, w, nil); err != nil {
			return fmt.Errorf("%s: %w", story.ID, err)
		}
		if err := w.Sweep(ctx); err != nil {
			return fmt.Errorf("after %s: %w", story.ID, err)
		}
		fmt.Printf("  %-4s ok  %s\n", story.ID, story.Sentence)
	}
	return nil
}

// checkOut lays the tree of an earlier commit into a directory of its own.
func checkOut(ctx context.Context, base string) (string, error) {
	root, err := world.ModuleRoot(ctx)
	if err != nil {
		return "", err
	}
	if base == "" {
		content, err := os.ReadFile(filepath.Join(root, "e2e", "skew", "BASE"))
		if err != nil {
			return "", fmt.Errorf("reading which commit is the earlier one: %w", err)
		}
		base = strings.TrimSpace(string(content))
	}
	dir, err := os.MkdirTemp("", "drover-skew-")
	if err != nil {
		return "", fmt.Errorf("making a directory for the earlier tree: %w", err)
	}
	archive := filepath.Join(dir, "tree.tar")
	for _, command := range [][]string{
		{"git", "-C", root, "archive", "--format=tar", "-o", archive, base},
		{"tar", "-C", dir, "-xf", archive},
	} {
		if out, err := exec.CommandContext(ctx, command[0], command[1:]...).CombinedOutput(); err != nil {
			return "", errors.Join(fmt.Errorf("laying out the tree of %s (a shallow clone lacks it: git fetch --unshallow): %w\n%s", base, err, out), os.RemoveAll(dir))
		}
	}
	return dir, nil
}
