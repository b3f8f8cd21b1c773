// Command conformance checks instance managers on the wire: one check for each behaviour that Drover relies on, against the simulator or
// against
// real ones. See README.md.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
)

//go:generate go run . pages

// Exit codes beside 0, with which all checks that were run passed.
const (
	exitFailed  = 1
	exitRefused = 2
)

// errFailed is the error of a run in which a check failed.
var errFailed = errors.New("not every check passed")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := command(os.Stdout).ExecuteContext(ctx)
	switch {
	case errors.Is(err, errFailed):
		os.Exit(exitFailed)
	case err != nil:
		fmt.Fprintln(os.Stderr, "conformance:", err)
		os.Exit(exitRefused)
	}
}

// command is the whole command line.
func command(out io.Writer) *cobra.Command {
	o := defaults()
	root := &cobra.Command{
		Use:   "conformance",
		Short: "Check instance managers on the wire, one check for each behaviour that Drover relies on",
		Long: `conformance runs its checks against the simulator (--simulator) or against real instance managers (--v1, --v2) that nobody
uses: one that lists an instance which is not of this run is refused. Every object is named conf-<id>-…,
	and only those are removed. Disks are only loaded by their
UUID unless --destroy-disk-content is given. A check that the target cannot serve is reported as not run, with the reason.

Exit codes: 0 when every check that was run passed, 1 when one failed, 2 when there was no run.`,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), o, out) },
	}
	o.flags(root.Flags())
	root.AddCommand(&cobra.Command{
		Use: "pages", Short: "Write the pages that are generated from the checks, in the directory of the sources", Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error { return pages() },
	})
	return root
}
