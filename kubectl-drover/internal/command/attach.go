package command

import (
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"drover.dev/drover/kubectl-drover/internal/attachment"
	"drover.dev/drover/kubectl-drover/internal/cluster"
	"drover.dev/drover/kubectl-drover/internal/world"
)

// waitFlags are those of a command that can wait for what it asked for.
type waitFlags struct {
	wait    bool
	timeout time.Duration
}

func (w *waitFlags) add(cmd *cobra.Command, what string) {
	cmd.Flags().BoolVar(&w.wait, "wait", false, "wait until "+what)
	cmd.Flags().DurationVar(&w.timeout, "timeout", 5*time.Minute, "how long --wait waits")
}

func (f *Frame) attach() Command {
	var wish attachment.Wish
	var wait waitFlags
	cmd := &cobra.Command{
		Use:   "attach VOLUME --node NODE",
		Short: "Ask for a volume on a node, by a ticket of your own",
		Long: `attach writes one ticket of type longhorn-api into the VolumeAttachment of the volume. attach-controller decides whose turn it is; pods and
the volume's own work have tickets, too, which are shown and never touched. The ticket stays until detach removes it, or for --expires.`,
		Example: `  kubectl drover attach vol-1 --node node-1 --wait
  kubectl drover attach vol-1 --node node-1 --disable-frontend --expires 2h
  kubectl drover detach vol-1`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: f.complete(map[string]cluster.Right{"Volume": cluster.Volumes.Right}),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := emptyFlag(cmd, "ticket"); err != nil {
				return err
			}
			if wish.Node == "" {
				return fmt.Errorf("name the node: --node NODE; list nodes with: %s", f.suggest("kubectl drover status"))
			}
			return f.runAttach(cmd, args[0], wish, wait)
		},
	}
	cmd.Flags().StringVar(&wish.Node, "node", "", "the node to attach the volume to")
	cmd.Flags().StringVar(&wish.Ticket, "ticket", attachment.DefaultTicket, "the id of the ticket")
	cmd.Flags().BoolVar(&wish.DisableFrontend, "disable-frontend", false, "without a block device, for maintenance")
	cmd.Flags().DurationVar(&wish.ExpiresAfter, "expires", 0, "end the ticket after this time; 0 is never")
	cmd.Flags().BoolVar(&wish.Replace, "replace", false, "change the parameters, not the node, of a ticket that exists")
	wait.add(cmd, "the volume is attached as the ticket wants")
	_ = cmd.RegisterFlagCompletionFunc("node", f.completeFlag("Node", cluster.Nodes.Right))
	return Command{Command: cmd, Rights: ticketRights(cluster.Nodes)}
}

func (f *Frame) runAttach(cmd *cobra.Command, volume string, wish attachment.Wish, wait waitFlags) error {
	ctx := cmd.Context()
	t, err := f.ticketWriter(ctx, volume)
	if err != nil {
		return err
	}
	if wish.Node, err = lookupComplete(ctx, t.client, "Node", wish.Node, cluster.Nodes.Right); err != nil {
		return err
	}
	change, err := t.apply(ctx, func(w *world.World) (attachment.Change, error) { return attachment.Attach(w, t.volume, wish) })
	if err != nil {
		return err
	}
	action := attachment.Unchanged
	if len(change) > 0 {
		action = attachment.Written
	}
	of := func(w *world.World) attachment.Report { return attachment.Attached(w, t.volume, wish.Ticket, action) }
	if wait.wait {
		err := t.wait(ctx, wait.timeout, of)
		if errors.Is(err, errNotDone) {
			return fmt.Errorf("%w; ticket %s stays, and is served as soon as it can be; end it with: %s", err, wish.Ticket,
				t.client.World().Suggest("kubectl drover detach {volume} --ticket '{ticket}' -n {ns}",
					world.Values{"volume": t.volume, "ticket": wish.Ticket}))
		}
		if err != nil {
			return err
		}
	}
	report, err := t.report(ctx, of)
	if err != nil {
		return err
	}
	return f.print(report)
}
