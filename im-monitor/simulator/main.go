// Command simulator is the reference data plane: it plays the kubelets of simulated nodes for instance-manager pods and answers, on one
// loopback address per pod, the instance-manager API on the wire. No controller can distinguish it from the real thing. See README.md.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"drover.dev/drover/im-monitor/simulator/enginecli"
)

func main() {
	if enginecli.IsCalled() { // by a link of the engine's name
		os.Exit(enginecli.Main(os.Args[1:], os.Stdout))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := command().ExecuteContext(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "simulator:", err)
		os.Exit(1)
	}
}

// command is the whole command line.
func command() *cobra.Command {
	o := defaults()
	root := &cobra.Command{
		Use:   "simulator",
		Short: "The reference data plane: instance managers in memory",
		Long: `simulator plays the kubelets of simulated nodes for instance-manager pods, and serves the instance-manager API for each of them on a loopback
address of its own (ports 8500 to 8504). What goes wrong, and what there is, is set and read at the control endpoint: see simulator ctl --help.`,
		Args:          cobra.NoArgs,
		SilenceUsage:  true,
		SilenceErrors: true,
		RunE:          func(cmd *cobra.Command, _ []string) error { return run(cmd.Context(), o, cmd.OutOrStdout()) },
	}
	o.flags(root.Flags())
	root.AddCommand(ctlCommand(), certsCommand())
	return root
}
