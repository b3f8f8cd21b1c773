package command

import (
	"slices"

	"github.com/spf13/cobra"

	"drover.dev/drover/kubectl-drover/internal/attachment"
	"drover.dev/drover/kubectl-drover/internal/cluster"
	"drover.dev/drover/kubectl-drover/internal/world"
)

func (f *Frame) detach() Command {
	var which attachment.Which
	var wait waitFlags
	cmd := &cobra.Command{
		Use:   "detach VOLUME",
		Short: "Remove a ticket that a person wrote",
		Long: `detach removes a ticket of type longhorn-api from the VolumeAttachment of the volume. Tickets of pods and of the volume's own work are
shown and never removed: the volume stays attached for as long as one of them wants it.`,
		Example: `  kubectl drover detach vol-1 --wait
  kubectl drover detach vol-1 --ticket by-hand
  kubectl drover detach vol-1 --node node-1 --all`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: f.complete(map[string]cluster.Right{"Volume": cluster.Volumes.Right}),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := emptyFlag(cmd, "ticket", "node"); err != nil {
				return err
			}
			return f.runDetach(cmd, args[0], which, wait)
		},
	}
	cmd.Flags().StringVar(&which.Ticket, "ticket", "", "the id of the ticket; without it "+attachment.DefaultTicket)
	cmd.Flags().StringVar(&which.Node, "node", "", "only tickets for this node")
	cmd.Flags().BoolVar(&which.All, "all", false, "all tickets of people that are as selected")
	wait.add(cmd, "the volume is detached, or held by another ticket")
	_ = cmd.RegisterFlagCompletionFunc("node", f.completeFlag("Node", cluster.Nodes.Right))
	_ = cmd.RegisterFlagCompletionFunc("ticket", f.completeTickets)
	return Command{Command: cmd, Rights: ticketRights()}
}

func (f *Frame) runDetach(cmd *cobra.Command, volume string, which attachment.Which, wait waitFlags) error {
	ctx := cmd.Context()
	t, err := f.ticketWriter(ctx, volume)
	if err != nil {
		return err
	}
	change, err := t.apply(ctx, func(w *world.World) (attachment.Change, error) { return attachment.Detach(w, t.volume, which) })
	if err != nil {
		return err
	}
	of := func(w *world.World) attachment.Report { return attachment.Detached(w, t.volume, change.IDs()) }
	if wait.wait {
		if err := t.wait(ctx, wait.timeout, of); err != nil {
			return err
		}
	}
	report, err := t.report(ctx, of)
	if err != nil {
		return err
	}
	return f.print(report)
}

// completeTickets completes the ids of tickets of people on the volume that is named.
func (f *Frame) completeTickets(cmd *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) != 1 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	t, err := f.ticketWriter(cmd.Context(), args[0])
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	w, err := t.observe(cmd.Context())
	if err != nil || len(w.Attachments.Items) == 0 {
		return nil, cobra.ShellCompDirectiveError
	}
	ids := personsTickets(&w.Attachments.Items[0])
	slices.Sort(ids)
	return ids, cobra.ShellCompDirectiveNoFileComp
}
