package command

import (
	"slices"

	"github.com/spf13/cobra"

	"drover.dev/drover/kubectl-drover/internal/cluster"
	"drover.dev/drover/kubectl-drover/internal/doctor"
)

// allReads are those of all kinds that can wait for a person.
var allReads = slices.Concat(cluster.AllOtherwise("they are not examined", cluster.Attachments, cluster.Engines, cluster.Frontends,
	cluster.Replicas, cluster.EngineImages), []cluster.Read{
	cluster.JobSources.Otherwise("labels of claims that name recurring jobs are not examined"),
	cluster.NetworkPolicies.Otherwise("it is not known whether one keeps im-monitor from the instance managers")}, wholeReads)

func (f *Frame) doctor() Command {
	cmd := &cobra.Command{
		Use:   "doctor",
		Short: "List everything that waits for a person, with the command that mends or shows it",
		Long: `doctor lists what waits for a person, the worst first: critical is a volume that cannot be used, or a controller that does
not lead; warning is what needs a person; info is what a person may decide. What goes on by itself is listed once it has lasted for 15
minutes.`,
		Example: `  kubectl drover doctor
  kubectl drover doctor -o json | jq -r '.findings[] | select(.severity == "critical") | .object.name'`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			client, err := f.connect(cmd.Context())
			if err != nil {
				return err
			}
			w := client.World()
			if err := f.read(cmd.Context(), client, w, allReads...); err != nil {
				return err
			}
			report := doctor.Of(w)
			f.exit(report.Severity)
			return f.print(report)
		},
	}
	return Command{Command: cmd, Rights: rightsOf(allReads...)}
}
