// Command cluster runs a control plane for manual use: a real etcd and kube-apiserver, kube-controller-manager on request, on
// loopback. Tests and the demo start their own control plane; this one runs until it is stopped.
//
//	export KUBECONFIG=$(go run ./e2e/cluster up)
//	kubectl get lho -A
//	go run ./e2e/cluster down
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"

	"github.com/spf13/cobra"

	"drover.dev/drover/shared/testkit/cluster"
)

func main() {
	root := &cobra.Command{
		Use:   "cluster",
		Short: "Run a real Kubernetes control plane on this machine, without containers",
		Long: "Run a real Kubernetes control plane on this machine: etcd and kube-apiserver with RBAC, on loopback.\n\n" +
			"The binaries come from KUBEBUILDER_ASSETS, the cache, setup-envtest, or are built from Go modules.\n" +
			"Run it from inside the repository.",
		SilenceUsage: true,
	}
	root.AddCommand(buildCommand(), upCommand(), downCommand(), holdCommand())
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := root.ExecuteContext(ctx); err != nil {
		stop()
		os.Exit(1)
	}
}

func buildCommand() *cobra.Command {
	var controllerManager, snapshotter bool
	command := &cobra.Command{
		Use:   "build",
		Short: "Find, download or build the binaries, and print their directories",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			found, err := cluster.Locate(command.Context(), controllerManager, os.Stderr)
			if err != nil {
				return err
			}
			if snapshotter {
				beside, err := cluster.LocateSnapshotter(command.Context(), os.Stderr)
				if err != nil {
					return err
				}
				defer fmt.Println(filepath.Dir(beside.Program))
			}
			fmt.Println(filepath.Dir(found.Etcd[0]))
			return nil
		},
	}
	controllerManagerFlag(command, &controllerManager)
	command.Flags().BoolVar(&snapshotter, "snapshotter", false, "with the common snapshot controller")
	return command
}

func upCommand() *cobra.Command {
	var s spec
	command := &cobra.Command{
		Use:   "up",
		Short: "Start a control plane in the background, with Drover's CRDs, and print the path of its kubeconfig",
		Args:  cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			kubeconfig, err := up(command.Context(), s)
			if err != nil {
				return err
			}
			fmt.Println(kubeconfig)
			return nil
		},
	}
	s.flags(command)
	return command
}

func downCommand() *cobra.Command {
	var name string
	command := &cobra.Command{
		Use:   "down",
		Short: "Stop a control plane that up started, and remove everything of it",
		Args:  cobra.NoArgs,
		RunE:  func(command *cobra.Command, _ []string) error { return down(command.Context(), name) },
	}
	nameFlag(command, &name)
	return command
}

// holdCommand is what up runs in the background.
func holdCommand() *cobra.Command {
	var s spec
	command := &cobra.Command{
		Use:    "hold",
		Short:  "Run a control plane until SIGTERM",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE:   func(command *cobra.Command, _ []string) error { return hold(command.Context(), s) },
	}
	s.flags(command)
	return command
}
