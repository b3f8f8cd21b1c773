package upgrade

import (
	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/upgrade/cluster"
	"drover.dev/drover/shared/upgrade/preflight"
)

// Blocker is one thing that stands against the upgrade of a node, by the rules by which upgrade-controller finds it.
type Blocker struct {
	Node string `json:"node"`
	// Volume is empty if it is the node itself.
	Volume  string         `json:"volume,omitempty"`
	Kind    preflight.Kind `json:"kind"`
	Message string         `json:"message"`
	// Command shows, or ends, what stands against it.
	Command string `json:"command,omitempty"`
}

// commands are those of kinds that have their own; the others show the node or the volume.
var commands = map[preflight.Kind]string{
	preflight.UnknownNode:   "kubectl -n {ns} get lhn",
	preflight.NodeNotReady:  "kubectl -n {ns} get lhim -o wide",
	preflight.NoOtherNode:   "kubectl -n {ns} get lhn,lhim -o wide",
	preflight.NotOnRecord:   "kubectl -n {ns} get lhim -o wide",
	preflight.SnapshotLimit: "kubectl drover snapshots {volume} -n {ns}",
	preflight.Purging:       "kubectl drover snapshots {volume} -n {ns}",
}

// clusterOf returns the nodes and the v2 volumes in use, as upgrade-controller sees them.
func clusterOf(w *world.World) cluster.Cluster {
	c := cluster.New(w.Nodes.Items, w.InstanceManagers.Items)
	for i := range w.Volumes.Items {
		if v := &w.Volumes.Items[i]; cluster.Counts(v, false) {
			c.Volumes[v.Name] = cluster.Volume{Object: v}
		}
	}
	c.AddInstances(w.Engines.Items, w.Replicas.Items)
	c.AddClones(w.Volumes.Items)
	c.AddWork(w.Snapshots.Items, w.Backups.Items)
	return c
}

// blockers returns everything in the objects that stands against the upgrade of the node.
func blockers(w *world.World, in preflight.World) []Blocker {
	var out []Blocker
	for _, b := range preflight.Blockers(in) {
		command, known := commands[b.Kind]
		switch {
		case known:
		case b.Volume != "":
			command = "kubectl drover why {volume} -n {ns}"
		default:
			command = "kubectl drover tree node/{node} -n {ns}"
		}
		out = append(out, Blocker{Node: b.Node, Volume: b.Volume, Kind: b.Kind, Message: b.Message,
			Command: w.Suggest(command, world.Values{"node": b.Node, "volume": b.Volume})})
	}
	return out
}
