package command

import (
	"fmt"

	"github.com/spf13/cobra"

	"drover.dev/drover/kubectl-drover/internal/cluster"
	"drover.dev/drover/kubectl-drover/internal/tree"
)

// volumeTree and nodeTree are the reads of a tree of an object of that name.
func volumeTree(volume string) []cluster.Read {
	return []cluster.Read{
		cluster.Volumes.Named(volume), cluster.Attachments.Named(volume), cluster.Engines.Where("spec.volumeName", volume),
		cluster.Frontends.Where("spec.volumeName", volume), cluster.Replicas.Where("spec.volumeName", volume),
		cluster.Snapshots.Where("spec.volume", volume), cluster.Backups.Where("status.volumeName", volume), cluster.Nodes,
	}
}

func nodeTree(node string) []cluster.Read {
	return []cluster.Read{
		cluster.Nodes.Named(node), cluster.Orphans.Where("spec.nodeID", node), cluster.InstanceManagers.Where("spec.nodeID", node),
		cluster.NodeUpgrades.Where("spec.nodeID", node),
		cluster.Engines.Where("spec.nodeID", node), cluster.Frontends.Where("spec.nodeID", node), cluster.Replicas.Where("spec.nodeID",
			node),
	}
}

func (f *Frame) tree() Command {
	kinds := map[string]cluster.Right{"Volume": cluster.Volumes.Right, "Node": cluster.Nodes.Right}
	cmd := &cobra.Command{
		Use:   "tree VOLUME|NODE",
		Short: "Show what belongs to a volume or runs on a node, with the state of each",
		Long: `tree shows a volume with its tickets, frontends, engines, replicas, snapshots and backups, or a node with its disks, instance
managers, the instances that they run, and its orphans. A name that a volume and a node have is the volume's: write node/NAME for the node.`,
		Example: `  kubectl drover tree vol-1
  kubectl drover tree node/node-1`,
		Args:              one("VOLUME or NODE"),
		ValidArgsFunction: f.complete(kinds),
		RunE:              func(cmd *cobra.Command, args []string) error { return f.runTree(cmd, args[0]) },
	}
	return Command{Command: cmd, Rights: rightsOf(append(volumeTree(""), nodeTree("")...)...)}
}

func (f *Frame) runTree(cmd *cobra.Command, given string) error {
	client, err := f.connect(cmd.Context())
	if err != nil {
		return err
	}
	kind, name, err := f.resolveEither(cmd, client, given)
	if err != nil {
		return err
	}
	w := client.World()
	if kind == "Node" {
		if err := f.read(cmd.Context(), client, w, nodeTree(name)...); err != nil {
			return err
		}
		if w.Node(name) == nil {
			return fmt.Errorf("node %s was deleted meanwhile; list all with: %s", name, w.Suggest("kubectl -n {ns} get lhn", nil))
		}
		return f.print(tree.Node(w, name))
	}
	if err := f.read(cmd.Context(), client, w, volumeTree(name)...); err != nil {
		return err
	}
	if len(w.Volumes.Items) == 0 {
		return fmt.Errorf("volume %s was deleted meanwhile; list all with: %s", name, w.Suggest("kubectl -n {ns} get lhv", nil))
	}
	return f.print(tree.Volume(w))
}
