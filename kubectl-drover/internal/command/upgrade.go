package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"drover.dev/drover/kubectl-drover/internal/cluster"
	"drover.dev/drover/kubectl-drover/internal/terminal"
	"drover.dev/drover/kubectl-drover/internal/upgrade"
	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// planReads are the reads of everything that may stand against an upgrade.
var planReads = []cluster.Read{cluster.Upgrades, cluster.Settings, cluster.Nodes, cluster.InstanceManagers, cluster.Volumes,
	cluster.Engines,
	cluster.Replicas, cluster.Snapshots, cluster.Backups}

// progressReads are the reads of how far upgrades are.
var progressReads = []cluster.Read{cluster.Upgrades, cluster.NodeUpgrades}

func (f *Frame) upgrade() Command {
	cmd := &cobra.Command{
		Use:   "upgrade",
		Short: "Plan, watch, pause, resume and abort an upgrade of the v2 data engine",
		Example: `  kubectl drover upgrade plan
  kubectl drover upgrade watch`,
	}
	return Command{Command: cmd, Under: []Command{f.upgradePlan(), f.upgradeWatch(),
		f.upgradeChange("pause", "Stop an upgrade at the next safe point", upgrade.Pause),
		f.upgradeChange("resume", "Go on with an upgrade that is paused, aborted or in error", upgrade.Resume), f.upgradeAbort()}}
}

func (f *Frame) upgradePlan() Command {
	var wish upgrade.Wish
	cmd := &cobra.Command{
		Use:   "plan",
		Short: "Show what an upgrade would meet, without beginning it",
		Long: `plan shows the order of the nodes and everything in the objects that stands against an upgrade, before a DataEngineUpgradeManager exists.
Nothing is changed. What upgrade-controller alone can check is listed as such.

Exit codes: 0 nothing in the objects blocks an upgrade; 2 something does; 1 the command failed.`,
		Example: `  kubectl drover upgrade plan
  kubectl drover upgrade plan --nodes node-2,node-1 --skip-volumes vol-1 -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, err := f.connect(cmd.Context())
			if err != nil {
				return err
			}
			w := client.World()
			if err := f.read(cmd.Context(), client, w, planReads...); err != nil {
				return err
			}
			plan := upgrade.PlanOf(w, wish)
			if plan.Blocked() {
				f.code = ExitWarning
			}
			return f.print(plan)
		},
	}
	cmd.Flags().StringSliceVar(&wish.Nodes, "nodes", nil, "these nodes in this order, as spec.nodes; without it all with v2")
	cmd.Flags().StringSliceVar(&wish.Skip, "skip-volumes", nil, "volumes that are left alone, as spec.skipVolumes")
	_ = cmd.RegisterFlagCompletionFunc("nodes", f.completeFlag("Node", cluster.Nodes.Right))
	_ = cmd.RegisterFlagCompletionFunc("skip-volumes", f.completeFlag("Volume", cluster.Volumes.Right))
	return Command{Command: cmd, Rights: rightsOf(planReads...)}
}

// completeUpgrades completes the name of a DataEngineUpgradeManager.
func (f *Frame) completeUpgrades() cobra.CompletionFunc {
	return f.complete(map[string]cluster.Right{"DataEngineUpgradeManager": cluster.Upgrades.Right})
}

func (f *Frame) upgradeWatch() Command {
	var timeout time.Duration
	cmd := &cobra.Command{
		Use:   "watch [NAME]",
		Short: "Follow an upgrade until it ends",
		Long: `watch shows an upgrade as a tree of nodes and volumes, and ends when the upgrade does. On a terminal the tree is drawn over and over; otherwise
each change is a line. Without a name it is the upgrade that has not ended, or else the newest one.

Exit codes: 0 the upgrade is completed; 2 it ended otherwise: in error, or aborted; 1 the command failed, or --timeout passed.`,
		Example: `  kubectl drover upgrade watch
  kubectl drover upgrade watch upgrade-1 --timeout 2h
  kubectl drover upgrade watch upgrade-1 -o json | jq .completed`,
		Args:              cobra.MaximumNArgs(1),
		ValidArgsFunction: f.completeUpgrades(),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, err := f.connect(cmd.Context())
			if err != nil {
				return err
			}
			name := ""
			if len(args) > 0 {
				if name, err = f.lookup(cmd.Context(), client, "DataEngineUpgradeManager", args[0], cluster.Upgrades.Right); err != nil {
					return err
				}
			}
			return f.watchUpgrade(cmd.Context(), client, name, timeout)
		},
	}
	cmd.Flags().DurationVar(&timeout, "timeout", 0, "give up after this time; 0 is never")
	return Command{Command: cmd, Rights: append(rightsOf(progressReads...), cluster.Watching(progressReads...)...)}
}

func (f *Frame) watchUpgrade(ctx context.Context, client *cluster.Client, name string, timeout time.Duration) error {
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	var last upgrade.Progress
	show := f.showsProgress()
	err := client.Follow(ctx, progressReads, func(w *world.World) (bool, error) {
		w.Now = f.Now().Add(client.Ahead())
		u, err := upgrade.Select(w, name)
		if err != nil {
			return true, err
		}
		name = u.Name // the same one until the end
		last = upgrade.ProgressOf(w, u)
		return last.Ended, show(last)
	}, func(err error) { f.progress("%v: trying again", err) })
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("upgrade %s has not ended after %s: it is %s; see: %s", name, timeout, last.State,
			client.World().Suggest("kubectl -n {ns} get lhum,lhnu -o wide", nil))
	}
	if err != nil {
		return err
	}
	if !last.Completed {
		f.code = ExitWarning
	}
	if f.Output != "" {
		return f.print(last)
	}
	return nil
}

// showsProgress returns what shows each state of an upgrade: a tree that is drawn over the one before, or lines of what changed. With -o
// the lines go to ErrOut, since Out gets the last state.
func (f *Frame) showsProgress() func(upgrade.Progress) error {
	screen, ok := terminal.NewScreen(f.Streams.Out)
	if ok && f.Output == "" {
		return func(p upgrade.Progress) error { return screen.Draw(p.Text) }
	}
	out := f.Streams.Out
	if f.Output != "" {
		out = f.Streams.ErrOut
	}
	var before upgrade.Progress
	return func(p upgrade.Progress) error {
		for _, line := range p.Changes(before) {
			if _, err := fmt.Fprintf(out, "%s %s\n", f.Now().UTC().Format(time.RFC3339), terminal.Clean(line)); err != nil {
				return err
			}
		}
		before = p
		return nil
	}
}

// changed is the report of a change of an upgrade's spec.
type changed struct {
	Upgrade string         `json:"upgrade"`
	Written map[string]any `json:"written,omitempty"`
	Effect  string         `json:"effect"`

	// next is the command that follows it.
	next string
}

func (c changed) Names() []string {
	return []string{"dataengineupgrademanager." + v1beta2.GroupVersion.Group + "/" + c.Upgrade}
}

func (c changed) Text(p *terminal.Printer) {
	p.Line("%s: %s", c.Upgrade, c.Effect)
	p.Line("  %s", c.next)
}

// decision returns what to write to an upgrade of the world.
type decision func(*world.World, *v1beta2.DataEngineUpgradeManager) (upgrade.Change, error)

// changeRights are those of a change of an upgrade's spec.
func changeRights() []cluster.Right { return append(rightsOf(cluster.Upgrades), cluster.PatchUpgrades) }

func (f *Frame) upgradeChange(verb, short string, decide decision) Command {
	cmd := &cobra.Command{
		Use:               verb + " NAME",
		Short:             short,
		Example:           "  kubectl drover upgrade " + verb + " upgrade-1",
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: f.completeUpgrades(),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.changeUpgrade(cmd.Context(), args[0], decide, nil)
		},
	}
	return Command{Command: cmd, Rights: changeRights()}
}

func (f *Frame) upgradeAbort() Command {
	var agreed consent
	cmd := &cobra.Command{
		Use:   "abort NAME",
		Short: "End an upgrade: its node is rolled back, or finished",
		Long: `abort sets spec.abort. A node whose instance manager was not replaced yet is rolled back, one whose instance manager was replaced is finished;
the other nodes keep the old one. resume takes it back.`,
		Example: `  kubectl drover upgrade abort upgrade-1
  kubectl drover upgrade abort upgrade-1 --dry-run`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: f.completeUpgrades(),
		RunE: func(cmd *cobra.Command, args []string) error {
			return f.changeUpgrade(cmd.Context(), args[0], upgrade.Abort, &agreed)
		},
	}
	agreed.add(cmd)
	return Command{Command: cmd, Rights: changeRights()}
}

// changeUpgrade decides by what is stored and writes that, again where the upgrade changed meanwhile. What was agreed to once is not asked
// again unless it has another effect.
func (f *Frame) changeUpgrade(ctx context.Context, given string, decide decision,
	agreed *consent) error {
	client, err := f.connect(ctx)
	if err != nil {
		return err
	}
	name, err := lookupComplete(ctx, client, "DataEngineUpgradeManager", given, cluster.Upgrades.Right)
	if err != nil {
		return err
	}
	effect := ""
	for try := 1; ; try++ {
		u, report, err := f.decideUpgrade(ctx, client, name, decide)
		if err != nil {
			return err
		}
		if len(report.Written) == 0 || agreed != nil && agreed.dryRun {
			return f.print(report)
		}
		if agreed != nil && effect != report.Effect {
			if err := f.preview(ctx, *agreed, report, "Abort upgrade "+name+"?"); err != nil {
				return err
			}
			effect = report.Effect
		}
		err = client.PatchSpec(ctx, u, cluster.PatchUpgrades, report.Written)
		if err == nil {
			return f.print(report)
		}
		if !cluster.IsChanged(err) || try == writeTries {
			return err
		}
	}
}

// decideUpgrade reads the upgrade and decides what to write.
func (f *Frame) decideUpgrade(ctx context.Context, client *cluster.Client, name string,
	decide decision) (*v1beta2.DataEngineUpgradeManager, changed, error) {
	w := client.World()
	if err := f.read(ctx, client, w, cluster.Upgrades.Named(name)); err != nil {
		return nil, changed{}, err
	}
	u, err := upgrade.Select(w, name)
	if err != nil {
		return nil, changed{}, err
	}
	change, err := decide(w, u)
	return u, changed{Upgrade: name, Written: change.Fields, Effect: change.Effect,
		next: w.Suggest("kubectl drover upgrade watch {name} -n {ns}", world.Values{"name": name})}, err
}
