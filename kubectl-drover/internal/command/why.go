package command

import (
	"context"

	"github.com/spf13/cobra"

	"drover.dev/drover/kubectl-drover/internal/cluster"
	"drover.dev/drover/kubectl-drover/internal/why"
	"drover.dev/drover/kubectl-drover/internal/world"
)

// aboutVolume are the reads of one volume's own objects, before its name is put in.
func aboutVolume(volume string) []cluster.Read {
	return []cluster.Read{
		cluster.Volumes.Named(volume), cluster.Attachments.Named(volume), cluster.Engines.Where("spec.volumeName", volume),
		cluster.Frontends.Where("spec.volumeName", volume), cluster.Replicas.Where("spec.volumeName", volume),
		cluster.Snapshots.Where("spec.volume", volume), cluster.Backups.Where("status.volumeName", volume), cluster.Nodes,
		cluster.NodeUpgrades,
		cluster.PersistentVolumes.Named(volume).Otherwise("the pods that want the volume are not named"),
	}
}

// aroundVolume are the reads of what a volume's instances run on, and of the pods that mount it.
func aroundVolume(w *world.World) []cluster.Read {
	return append(podsOfVolume(w), cluster.InstanceManagers)
}

// podsOfVolume are the reads of the pods that mount the claims of the PersistentVolumes.
func podsOfVolume(w *world.World) []cluster.Read {
	pods := cluster.PodsEverywhere.Otherwise("the pods that want the volume are not named")
	var reads []cluster.Read
	for i := range w.PersistentVolumes.Items {
		if claim := w.PersistentVolumes.Items[i].Spec.ClaimRef; claim != nil {
			reads = append(reads, pods.In(claim.Namespace))
		}
	}
	return reads
}

func (f *Frame) why() Command {
	cmd := &cobra.Command{
		Use:   "why VOLUME",
		Short: "Explain where a volume is, who wants it, and what stands against it",
		Long: `why explains one volume: the tickets that want it and what each was answered, the chain of causes from the volume down to the
pod, node, instance manager, disk or upgrade that holds it up, and the next command to type.`,
		Example: `  kubectl drover why vol-1
  kubectl drover why vol-1 -o json | jq .causes`,
		Args:              one("VOLUME"),
		ValidArgsFunction: f.complete(map[string]cluster.Right{"Volume": cluster.Volumes.Right}),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, w, err := f.observeVolume(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if err := f.read(cmd.Context(), client, w, aroundVolume(w)...); err != nil {
				return err
			}
			if err := f.readEvents(cmd.Context(), client, w); err != nil {
				return err
			}
			return f.print(why.Explain(w))
		},
	}
	pods := cluster.PodsEverywhere.Otherwise("the pods that want the volume are not named")
	return Command{Command: cmd, Rights: rightsOf(append(aboutVolume(""), cluster.InstanceManagers, eventRead, pods)...)}
}

// eventRead is of the events of one instance. The API server keeps no list of events in memory, so that only few are asked for.
var eventRead = cluster.Events.Otherwise("what an instance waits for is not shown where only an event says it")

// readEvents reads the events of instances that are not as wanted.
func (f *Frame) readEvents(ctx context.Context, client *cluster.Client, w *world.World) error {
	for _, name := range why.Late(w) {
		one := client.World()
		if err := f.read(ctx, client, one, eventRead.Where("involvedObject.name", name)); err != nil {
			return err
		}
		w.Events.Items = append(w.Events.Items, one.Events.Items...)
		w.Unread = append(w.Unread, one.Unread...)
		if len(one.Unread) > 0 {
			return nil
		}
	}
	return nil
}

// observeVolume reads a volume's own objects. A name that no volume has is completed, if it begins the name of exactly one.
func (f *Frame) observeVolume(ctx context.Context, given string) (*cluster.Client, *world.World, error) {
	client, err := f.connect(ctx)
	if err != nil {
		return nil, nil, err
	}
	w := client.World()
	if err := f.read(ctx, client, w, aboutVolume(given)...); err != nil {
		return nil, nil, err
	}
	if len(w.Volumes.Items) == 1 {
		return client, w, nil
	}
	name, err := f.lookup(ctx, client, "Volume", given, cluster.Volumes.Right)
	if err != nil {
		return nil, nil, err
	}
	w = client.World()
	return client, w, f.read(ctx, client, w, aboutVolume(name)...)
}
