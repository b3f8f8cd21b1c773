package command

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"drover.dev/drover/kubectl-drover/internal/cluster"
	"drover.dev/drover/kubectl-drover/internal/snapshots"
	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// snapshotReads are the reads of a volume's snapshots, and of everything that may need one.
func snapshotReads(volume string) []cluster.Read {
	return []cluster.Read{cluster.Volumes, cluster.Snapshots.Where("spec.volume", volume), cluster.Backups, cluster.NodeUpgrades,
		cluster.Contents}
}

// shownSnapshotReads are the same for a command that deletes nothing.
func shownSnapshotReads(volume string) []cluster.Read {
	reads := snapshotReads(volume)
	last := len(reads) - 1
	reads[last] = reads[last].Otherwise("VolumeSnapshots of Kubernetes that use a snapshot are not shown")
	return reads
}

func (f *Frame) snapshots() Command {
	cmd := &cobra.Command{
		Use:   "snapshots VOLUME",
		Short: "Show the snapshots of a volume as a tree, with sizes and what each is for",
		Long: `snapshots shows what builds on what, who asked for each snapshot, which Backup copies it, and what needs it now. Sizes are those that the
engine reported last.`,
		Example: `  kubectl drover snapshots vol-1
  kubectl drover snapshots prune vol-1 --keep 3 --older-than 72h --dry-run`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: f.complete(map[string]cluster.Right{"Volume": cluster.Volumes.Right}),
		RunE: func(cmd *cobra.Command, args []string) error {
			_, _, tree, err := f.observeSnapshots(cmd.Context(), args[0], f.lookup, shownSnapshotReads)
			if err != nil {
				return err
			}
			return f.print(tree)
		},
	}
	return Command{Command: cmd, Rights: rightsOf(shownSnapshotReads("")...), Under: []Command{f.snapshotsPrune()}}
}

// observeSnapshots reads the snapshots of the volume whose name is resolved so.
func (f *Frame) observeSnapshots(ctx context.Context, given string,
	resolved func(context.Context, *cluster.Client, string, string, cluster.Right) (string, error),
	reads func(volume string) []cluster.Read) (*cluster.Client, *world.World, snapshots.Tree, error) {
	client, err := f.connect(ctx)
	if err != nil {
		return nil, nil, snapshots.Tree{}, err
	}
	volume, err := resolved(ctx, client, "Volume", given, cluster.Volumes.Right)
	if err != nil {
		return nil, nil, snapshots.Tree{}, err
	}
	w := client.World()
	if err := f.read(ctx, client, w, reads(volume)...); err != nil {
		return nil, nil, snapshots.Tree{}, err
	}
	return client, w, snapshots.Of(w, volume), nil
}

func (f *Frame) snapshotsPrune() Command {
	var rule snapshots.Rule
	var agreed consent
	cmd := &cobra.Command{
		Use:   "prune VOLUME",
		Short: "Delete old snapshots of a volume, after a preview of what goes",
		Long: `prune deletes Snapshot objects, by which their data is merged into what builds on them. The --keep newest stay, and what is younger than
--older-than. Only restore points count: ready, with a time, not marked removed, not taken by the system. Whatever else there is stays.
A snapshot that a Backup, a clone, a revert or an upgrade needs now is refused, and so are that of the last backup, that of a VolumeSnapshot
of Kubernetes and the one that the volume's head builds on.`,
		Example: `  kubectl drover snapshots prune vol-1 --keep 3 --dry-run
  kubectl drover snapshots prune vol-1 --keep 3 --older-than 72h --yes`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: f.complete(map[string]cluster.Right{"Volume": cluster.Volumes.Right}),
		RunE: func(cmd *cobra.Command, args []string) error {
			switch {
			case !cmd.Flags().Changed("keep") && !cmd.Flags().Changed("older-than"):
				return errors.New("name which may go: --keep N leaves the newest, --older-than 72h the young ones")
			case rule.Keep < 0 || rule.OlderThan < 0:
				return errors.New("--keep and --older-than are not negative")
			}
			return f.runPrune(cmd.Context(), args[0], rule, agreed)
		},
	}
	cmd.Flags().IntVar(&rule.Keep, "keep", 0, "how many of the newest restore points stay")
	cmd.Flags().DurationVar(&rule.OlderThan, "older-than", 0, "what is younger stays")
	agreed.add(cmd)
	return Command{Command: cmd, Rights: append(rightsOf(snapshotReads("")...), cluster.DeleteSnapshots)}
}

func (f *Frame) runPrune(ctx context.Context, volume string, rule snapshots.Rule, agreed consent) error {
	client, w, tree, err := f.observeSnapshots(ctx, volume, lookupComplete, snapshotReads)
	if err != nil {
		return err
	}
	plan := snapshots.Prune(tree, rule)
	if agreed.dryRun || len(plan.Delete) == 0 {
		return f.print(plan)
	}
	read := func(ctx context.Context) (targets, error) {
		w := client.World()
		err := f.read(ctx, client, w, snapshotReads(volume)...)
		return snapshotTargets(w, snapshots.Of(w, volume)), err
	}
	return f.deleteAsAgreed(ctx, agreed, plan, "Delete "+plural(len(plan.Delete), "snapshot")+" of volume "+plan.Volume+"?",
		deletion{client: client, right: cluster.DeleteSnapshots, agreed: snapshotTargets(w, tree), read: read})
}

func snapshotTargets(w *world.World, tree snapshots.Tree) targets {
	objects := map[string]*v1beta2.Snapshot{}
	for i := range w.Snapshots.Items {
		objects[w.Snapshots.Items[i].Name] = &w.Snapshots.Items[i]
	}
	out := targets{}
	for i, name := range tree.Names() {
		s := &tree.Snapshots[i]
		out[name] = target{objects[s.Name], fmt.Sprint(s.Purpose, s.Needed, s.NotCounted)}
	}
	return out
}
