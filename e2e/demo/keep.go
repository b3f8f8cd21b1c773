package main

import (
	"context"
	_ "embed"
	"fmt"
	"strings"
	"time"
)

// keepPage is what a person may try, as a page whose commands e2e/guides runs.
//
//go:embed keep.md
var keepPage string

// keepText is the page for a terminal: without its title, its commands indented.
func keepText(page, namespace string) string {
	_, page, _ = strings.Cut(page, "\n\n")
	var out strings.Builder
	indent := ""
	for line := range strings.Lines(strings.ReplaceAll(page, "longhorn-system", namespace)) {
		if strings.HasPrefix(line, "```") {
			if indent += "  "; line == "```\n" {
				indent = ""
			}
			continue
		}
		if line != "\n" {
			out.WriteString(indent)
		}
		out.WriteString(line)
	}
	return out.String()
}

// keep leaves everything running until Ctrl-C.
func (d *demo) keep(ctx context.Context) error {
	w := d.world
	kubeconfig, err := w.AdminKubeconfig()
	if err != nil {
		return err
	}
	fmt.Printf(`
Everything runs until Ctrl-C. In another terminal, from this directory:

  export KUBECONFIG=%s PATH=%s:$PATH

%s
The data plane itself: SIMULATOR_CONTROL=%s go run ./im-monitor/simulator ctl instances
Logs: %s/*.log
`, kubeconfig, w.Dir, keepText(keepPage, w.Namespace), w.Control(), w.Dir)
	return d.watch(ctx)
}

// watch reports each controller that ends by itself, until Ctrl-C.
func (d *demo) watch(ctx context.Context) error {
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	var reported error
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := d.world.Died(); err != nil && (reported == nil || err.Error() != reported.Error()) {
			d.scenario.note("%v", err)
			reported = err
		}
	}
}
