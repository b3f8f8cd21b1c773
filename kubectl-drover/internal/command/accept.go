package command

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/kubectl-drover/internal/cluster"
	"drover.dev/drover/kubectl-drover/internal/orphans"
	"drover.dev/drover/kubectl-drover/internal/terminal"
	"drover.dev/drover/shared/api/v1beta2"
)

func (f *Frame) orphansAccept() Command {
	var s orphans.Acceptance
	var agreed consent
	cmd := &cobra.Command{
		Use:   "accept [NAME...]",
		Short: "Record that orphans are given up, after a preview, so that policy may take them",
		Long: `accept records that the selected orphans are given up. It is for orphans without an object: an earlier control plane left them, or they came
about while Drover did not run. It deletes nothing. Policy then deletes them like instances that attach-controller gave up: after a grace
period that begins with the record. It still holds last copies, and data that an engine uses. If auto deletion is off and no node is
evicted, the record has no effect. It has your name and the time, and covers exactly these orphans: later ones wait for a person again.
If --node, --older-than or --all selects the orphans, data is left alone unless --include-data is given.`,
		Example: `  kubectl drover orphans accept --older-than 1h --dry-run
  kubectl drover orphans accept --node node-1 --yes`,
		ValidArgsFunction: f.completeOrphans,
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := emptyFlag(cmd, "node"); err != nil {
				return err
			}
			if s.Names = args; len(args) == 0 && s.Node == "" && s.OlderThan <= 0 && !s.All {
				return fmt.Errorf("name orphans, or select them with --node, --older-than or --all; list all with: %s",
					f.suggest("kubectl drover orphans"))
			}
			return f.runOrphansAccept(cmd.Context(), s, agreed)
		},
	}
	cmd.Flags().StringVar(&s.Node, "node", "", "orphans of this node")
	cmd.Flags().DurationVar(&s.OlderThan, "older-than", 0, "orphans that were found at least this long ago, such as 1h")
	cmd.Flags().BoolVar(&s.All, "all", false, "every orphan that exists now")
	cmd.Flags().BoolVar(&s.Data, "include-data", false, "also orphans whose deletion destroys data")
	agreed.add(cmd)
	_ = cmd.RegisterFlagCompletionFunc("node", f.completeFlag("Node", cluster.Nodes.Right))
	return Command{Command: cmd, Rights: append(rightsOf(orphanReads...), cluster.PatchOrphans, cluster.AskWho)}
}

func (f *Frame) runOrphansAccept(ctx context.Context, s orphans.Acceptance, agreed consent) error {
	api, w, err := f.observeOrphans(ctx)
	if err != nil {
		return err
	}
	plan, err := orphans.Accept(w, orphans.List(w), s)
	if err != nil {
		return err
	}
	if agreed.dryRun {
		return f.print(plan)
	}
	if len(plan.Accept) == 0 {
		if len(plan.Left) == 0 {
			f.progress("no orphan is as selected: nothing to record")
		}
		return f.print(plan)
	}
	who, err := api.Who(ctx)
	if err != nil {
		return err
	}
	read := func(ctx context.Context) (targets, error) {
		_, w, err := f.observeOrphans(ctx)
		if err != nil {
			return nil, err
		}
		return orphanTargets(w), nil
	}
	giveUp := func(ctx context.Context, object client.Object) error {
		o, is := object.(*v1beta2.Orphan)
		if !is {
			return fmt.Errorf("%s is no Orphan", object.GetName())
		}
		return api.GiveUpOrphan(ctx, o, who+" "+f.Now().UTC().Format(time.RFC3339))
	}
	done, failed, err := f.writeAsAgreed(ctx, agreed, plan, "Record that "+plural(len(plan.Accept), "orphan")+" may be deleted by policy?",
		"recorded", deletion{client: api, right: cluster.PatchOrphans, agreed: orphanTargets(w), read: read, instead: giveUp})
	if done == nil {
		return err
	}
	return errors.Join(err, f.print(accepted{Accepted: done, Failed: failed}))
}

// accepted lists the orphans that were recorded as given up, and the failures. Names are <resource>.<group>/<name>.
type accepted struct {
	Accepted []string         `json:"accepted"`
	Failed   []failedDeletion `json:"failed"`
}

// Names returns the orphans that were recorded.
func (a accepted) Names() []string { return a.Accepted }

// Text writes one line for each, as kubectl does.
func (a accepted) Text(p *terminal.Printer) {
	for _, name := range a.Accepted {
		p.Line("%s given up", name)
	}
}
