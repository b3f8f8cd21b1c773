// Command ui runs Longhorn's own web interface, as built from its repository, in Chromium: in front of api-gateway, with all controllers,
// a real API server and the simulator behind it. It uses the pages as a person does, and fails if a page, the console of the browser or
// the objects in the cluster are not as they should be.
//
//	ui --files path/to/dist [--chromium path] [--screenshots directory] [--keep]
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
	"syscall"
	"time"

	"drover.dev/drover/e2e/world"
)

const needs = `the web interface has to be there: its files as "npm ci && npm run build" writes them into dist, in a checkout of Longhorn's
repository longhorn-ui (Node.js 20):

  make ui-test UI=path/to/longhorn-ui/dist

Chromium has to be installed, too (Debian: apt-get install chromium).`

// patience is how long a page may take to show the expected content.
const patience = 30 * time.Second

var nodes = []string{"node-1", "node-2", "node-3"}

func main() {
	files := flag.String("files", "", "the built files of the web interface: a directory with index.html")
	chromium := flag.String("chromium", "chromium", "the browser")
	screenshots := flag.String("screenshots", "", "directory for a screenshot after each step")
	keep := flag.Bool("keep", false, "serve the interface until Ctrl-C in place of the test, to use it by hand")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, *files, *chromium, *screenshots, *keep); err != nil {
		fmt.Fprintln(os.Stderr, "ui:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, files, chromium, screenshots string, keep bool) (failed error) {
	if _, err := os.Stat(filepath.Join(files, "index.html")); files == "" || err != nil {
		return errors.New(needs)
	}
	program, err := exec.LookPath(chromium)
	if err != nil {
		return fmt.Errorf("%w\n%s", err, needs)
	}
	if screenshots != "" {
		if err := os.MkdirAll(screenshots, 0o755); err != nil {
			return fmt.Errorf("creating the directory of the screenshots: %w", err)
		}
	}
	w, err := world.Start(ctx, world.Options{Nodes: nodes, Attach: true, Snapshots: true, Upgrades: true, Gateway: true, Disks: true,
		Policies: true, Log: func(format string, args ...any) { fmt.Printf(format+"\n", args...) }})
	if err != nil {
		return err
	}
	defer func() { failed = errors.Join(failed, w.Close()) }()
	address, stop, err := serve(files, w.Process(world.APIGateway).REST())
	if err != nil {
		return err
	}
	defer stop()
	if keep {
		fmt.Printf("the interface is at %s, until Ctrl-C\n", address)
		<-ctx.Done()
		return nil
	}
	b, end, err := startBrowser(ctx, program, address, screenshots)
	if err != nil {
		return err
	}
	defer end()
	return (&person{browser: b, world: w}).useAll(ctx)
}
