package command

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"drover.dev/drover/kubectl-drover/internal/cluster"
	"drover.dev/drover/kubectl-drover/internal/orphans"
	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// orphanReads are the reads about orphans, and about what still needs their data.
var orphanReads = []cluster.Read{cluster.Orphans, cluster.Volumes, cluster.Replicas, cluster.Engines, cluster.Nodes,
	cluster.PersistentVolumes.Otherwise("what may be the last copy of a volume without a Volume is not known: all data of one counts as such")}

func (f *Frame) orphans() Command {
	var node string
	cmd := &cobra.Command{
		Use:   "orphans",
		Short: "List instances and data that no object claims, by their names",
		Long: `orphans lists what runs on an instance manager, or lies on a disk, and no object claims: by the name of the instance, with the rule by
which it is an orphan, what was decided, and whether deleting it destroys data.`,
		Example: `  kubectl drover orphans --node node-1
  kubectl drover orphans explain vol-1-r-1a2b
  kubectl drover orphans delete vol-1-r-1a2b`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			if err := emptyFlag(cmd, "node"); err != nil {
				return err
			}
			_, w, err := f.observeOrphans(cmd.Context())
			if err != nil {
				return err
			}
			all := orphans.List(w)
			if node != "" {
				all = slices.DeleteFunc(all, func(o orphans.Orphan) bool { return o.Node != node })
			}
			return f.print(orphans.Table{Orphans: all, Unread: w.Unread, Now: w.Now})
		},
	}
	cmd.Flags().StringVar(&node, "node", "", "only those of this node")
	_ = cmd.RegisterFlagCompletionFunc("node", f.completeFlag("Node", cluster.Nodes.Right))
	return Command{Command: cmd, Rights: rightsOf(orphanReads...), Under: []Command{f.orphansExplain(), f.orphansDelete(),
		f.orphansAccept()}}
}

func (f *Frame) observeOrphans(ctx context.Context) (*cluster.Client, *world.World, error) {
	client, err := f.connect(ctx)
	if err != nil {
		return nil, nil, err
	}
	w := client.World()
	return client, w, f.read(ctx, client, w, orphanReads...)
}

func (f *Frame) orphansExplain() Command {
	cmd := &cobra.Command{
		Use:   "explain NAME",
		Short: "Explain one orphan: why it is one, what was decided, what deleting it does",
		Example: `  kubectl drover orphans explain vol-1-r-1a2b
  kubectl drover orphans explain orphan-5f0c -o yaml`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: f.completeOrphans,
		RunE: func(cmd *cobra.Command, args []string) error {
			_, w, err := f.observeOrphans(cmd.Context())
			if err != nil {
				return err
			}
			o, err := orphans.Named(w, orphans.List(w), args[0])
			if err != nil {
				return err
			}
			return f.print(orphans.Explanation{Orphan: *o, World: w})
		},
	}
	return Command{Command: cmd, Rights: rightsOf(orphanReads...)}
}

func (f *Frame) orphansDelete() Command {
	var s orphans.Selection
	var agreed consent
	cmd := &cobra.Command{
		Use:   "delete NAME...",
		Short: "Delete orphans, after a preview of what goes",
		Long: `delete deletes Orphan objects, by which im-monitor is asked to end the instances, and to destroy the data where the preview shows
so. It evaluates each of them again before the call. --node and --all-approved select without names: data is left alone then unless
--include-data is given, and in any case what policy holds back, what may be a volume's last copy, another cluster's, or still in use. One
that policy deleted already, and holds back, is released if it is named.`,
		Example: `  kubectl drover orphans delete vol-1-r-1a2b
  kubectl drover orphans delete --node node-1 --dry-run
  kubectl drover orphans delete --all-approved --include-data --yes`,
		ValidArgsFunction: f.completeOrphans,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := emptyFlag(cmd, "node"); err != nil {
				return err
			}
			s.Names = args
			if len(args) == 0 && s.Node == "" && !s.Approved {
				return fmt.Errorf("name orphans, or select them with --node or --all-approved; list all with: %s",
					f.suggest("kubectl drover orphans"))
			}
			return f.runOrphansDelete(cmd.Context(), s, agreed)
		},
	}
	cmd.Flags().StringVar(&s.Node, "node", "", "those of this node")
	cmd.Flags().BoolVar(&s.Approved, "all-approved", false,
		"those that policy deletes by itself and that wait for nothing but time: Approved, GracePeriod, RateLimited, DryRun")
	cmd.Flags().BoolVar(&s.Data, "include-data", false, "those, too, whose deletion destroys data")
	agreed.add(cmd)
	_ = cmd.RegisterFlagCompletionFunc("node", f.completeFlag("Node", cluster.Nodes.Right))
	return Command{Command: cmd, Rights: append(rightsOf(orphanReads...), cluster.DeleteOrphans, cluster.PatchOrphans)}
}

func (f *Frame) runOrphansDelete(ctx context.Context, s orphans.Selection, agreed consent) error {
	client, w, err := f.observeOrphans(ctx)
	if err != nil {
		return err
	}
	plan, err := orphans.Choose(w, orphans.List(w), s)
	if err != nil {
		return err
	}
	if agreed.dryRun {
		return f.print(plan)
	}
	if len(plan.Delete) == 0 {
		if len(plan.Left) == 0 {
			f.progress("no orphan is as selected: nothing to delete")
		}
		return f.print(plan)
	}
	read := func(ctx context.Context) (targets, error) {
		_, w, err := f.observeOrphans(ctx)
		if err != nil {
			return nil, err
		}
		return orphanTargets(w), nil
	}
	return f.deleteAsAgreed(ctx, agreed, plan, "Delete "+plural(len(plan.Delete), "orphan")+"?",
		deletion{client: client, right: cluster.DeleteOrphans, agreed: orphanTargets(w), read: read})
}

func orphanTargets(w *world.World) targets {
	objects := map[string]*v1beta2.Orphan{}
	for i := range w.Orphans.Items {
		objects[w.Orphans.Items[i].Name] = &w.Orphans.Items[i]
	}
	all := orphans.Table{Orphans: orphans.List(w)}
	out := targets{}
	for i, name := range all.Names() {
		o := &all.Orphans[i]
		out[name] = target{objects[o.Object], fmt.Sprint(o.Effect, o.DestroysData, o.Orphaned.Reason, o.Held, o.Warnings)}
	}
	return out
}

// completeOrphans completes names of instances.
func (f *Frame) completeOrphans(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	_, w, err := f.observeOrphans(cmd.Context())
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var out []string
	for _, o := range orphans.List(w) {
		if strings.HasPrefix(o.Instance, typed) && !slices.Contains(args, o.Instance) {
			out = append(out, o.Instance)
		}
	}
	return slices.Compact(out), cobra.ShellCompDirectiveNoFileComp
}
