package command

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"drover.dev/drover/kubectl-drover/internal/cluster"
	"drover.dev/drover/kubectl-drover/internal/finding"
	"drover.dev/drover/kubectl-drover/internal/status"
	"drover.dev/drover/kubectl-drover/internal/world"
)

// controllerReads are what shows the controllers themselves.
var controllerReads = []cluster.Read{
	cluster.Leases.Otherwise("it is not known whether controllers lead"),
	cluster.Deployments.Otherwise("the pods of controllers are not counted"),
	cluster.Pods.Otherwise("versions are those of Deployments, not of the leaders' pods"),
	cluster.Definitions.Otherwise("the contract of the custom resource definitions is not checked"),
}

// wholeReads are what one screen shows. Tickets, engines and replicas are left out: the conditions of volumes say what of them matters.
// A kind that cannot be read is named, and does not hide the others.
var wholeReads = slices.Concat([]cluster.Read{cluster.Volumes}, cluster.AllOtherwise("they are not examined", cluster.Nodes,
	cluster.InstanceManagers, cluster.Settings, cluster.Snapshots, cluster.Backups, cluster.BackupTargets, cluster.RecurringJobs,
	cluster.Orphans, cluster.Upgrades, cluster.NodeUpgrades), controllerReads)

func (f *Frame) status() Command {
	cmd := &cobra.Command{
		Use:   "status",
		Short: "Show the whole installation on one screen",
		Long: `status shows controllers with version, contract and leader, nodes and disks, data engines with their images, and how many
volumes, snapshots, backups and orphans there are in which state. Its exit code is for scripts.`,
		Example: `  kubectl drover status
  kubectl drover status -o json | jq .volumes.robustness
  kubectl drover status >/dev/null || kubectl drover doctor`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, err := f.connect(cmd.Context())
			if err != nil {
				return err
			}
			w := client.World()
			if err := f.read(cmd.Context(), client, w, wholeReads...); err != nil {
				return err
			}
			if isNothing(w) {
				return fmt.Errorf("namespace %s has nothing of Drover: no lease or Deployment of a controller, no node and no volume; "+
					"leave -n out to find the namespace with Drover, or install it: docs/install.md", w.Namespace)
			}
			report := status.Of(w)
			f.exit(report.Severity)
			return f.print(report)
		},
	}
	return Command{Command: cmd, Rights: rightsOf(wholeReads...)}
}

// isNothing reports whether all was read, and there is nothing: the namespace is most likely another one than was meant.
func isNothing(w *world.World) bool {
	return len(w.Unread) == 0 && len(w.Leases.Items)+len(w.Deployments.Items)+len(w.Nodes.Items)+len(w.Volumes.Items)+
		len(w.Settings.Items) == 0
}

// exit makes a severity the exit code.
func (f *Frame) exit(severity finding.Severity) {
	switch severity {
	case finding.Warning:
		f.code = ExitWarning
	case finding.Critical:
		f.code = ExitCritical
	default:
		f.code = ExitWell
	}
}
