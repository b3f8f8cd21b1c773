package nodecontroller

import (
	"drover.dev/drover/im-monitor/internal/node"
	"drover.dev/drover/shared/api/v1beta2"
)

// facts are what matters of a Node: of what disks report only what is summed up of it.
type facts struct {
	Finalizers   []string
	Conditions   []v1beta2.Condition
	Region, Zone string
	// Disks are the sums, and what the status reports of them.
	Disks        [4]string
	AutoEvicting bool
}

func nodeFacts(n *v1beta2.Node) facts {
	ready, storage := node.Disks(n)
	out := facts{Finalizers: n.Finalizers, Region: n.Status.Region, Zone: n.Status.Zone,
		Disks: [4]string{ready, storage, n.Status.DisksReady, n.Status.Storage}, AutoEvicting: n.Status.AutoEvicting}
	for _, c := range n.Status.Conditions {
		c.LastProbeTime, c.LastTransitionTime = "", ""
		out.Conditions = append(out.Conditions, c)
	}
	return out
}
