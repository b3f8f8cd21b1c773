// Command realnodes runs real instance managers in the place of the simulator: it plays the kubelets of nodes on this machine, starts the
// given binary for each instance-manager pod in namespaces of its own, and answers the simulator's control endpoint. `make real` uses it.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"

	"github.com/spf13/cobra"

	"drover.dev/drover/im-monitor/simulator/internal/realnode"
)

// init keeps main on the first thread: only the thread that execs keeps the signal that the kernel sends when the parent dies.
func init() { runtime.LockOSThread() }

func main() {
	if realnode.IsEngine(os.Args) {
		fail(realnode.RunEngine(os.Args))
	}
	if len(os.Args) == 3 && os.Args[1] == realnode.PodCommand {
		fail(realnode.BecomePod(os.Args[2]))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command().ExecuteContext(ctx); err != nil {
		fail(err)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "realnodes:", err)
	os.Exit(1)
}

// command is the command line.
func command() *cobra.Command {
	o := defaults()
	root := &cobra.Command{
		Use:   "realnodes",
		Short: "Real instance managers on nodes of their own on this machine",
		Long: `realnodes plays the kubelets of nodes for instance-manager pods, and runs the given instance manager for each of them in a network, mount and PID
namespace of its own. It needs root and the command ip of iproute2, and is to be run in a network namespace that nothing else uses.`,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), o, cmd.OutOrStdout()) },
	}
	o.flags(root.Flags())
	return root
}
