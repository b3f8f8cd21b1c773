package ticketcontroller

import (
	"slices"
	"strings"

	"drover.dev/drover/attach-controller/internal/ticket"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

type ofVolumes struct {
	generation      int64
	state, robust   string
	restore         bool
	clone, unplaced string
	accepted        int64
}

// volumeFacts: the generation stands for the spec.
func volumeFacts(v *v1beta2.Volume) ofVolumes {
	f := ofVolumes{
		generation: v.Generation, state: v.Status.State, robust: v.Status.Robustness, restore: v.Status.RestoreRequired,
		clone: v.Status.CloneStatus.State, accepted: v.Status.AcceptedSize,
	}
	if c := conditions.Get(v.Status.Conditions, "Scheduled"); c != nil {
		f.unplaced = string(c.Status)
	}
	return f
}

// attachmentFacts: the generation stands for the tickets; their answers change nothing here.
func attachmentFacts(a *v1beta2.VolumeAttachment) int64 { return a.Generation }

type ofEngines struct {
	size, wanted int64
	active       bool
	failed       string // when the last expansion did
	filled       bool   // with the backup that was asked for
}

func engineFacts(e *v1beta2.Engine) ofEngines {
	return ofEngines{e.Status.CurrentSize, e.Spec.VolumeSize, e.Spec.Active, e.Status.LastExpansionFailedAt, ticket.Filled(e)}
}

type ofReplicas struct {
	node, disk      string
	failed, healthy bool
	leaves, second  bool
}

func replicaFacts(r *v1beta2.Replica) ofReplicas {
	return ofReplicas{r.Spec.NodeID, r.Spec.DiskID, r.Spec.FailedAt != "", r.Spec.HealthyAt != "", r.Spec.EvictionRequested,
		v1beta2.IsSecondProcess(r)}
}

func shareFacts(m *v1beta2.ShareManager) (node string) { return m.Status.OwnerID }

type ofPlaces struct {
	down, ready, cordoned, upgrading bool
}

// placeFacts are those of a node that decide whether volumes may be attached there.
func placeFacts(n *v1beta2.Node) ofPlaces {
	return ofPlaces{
		down: v1beta2.IsNodeDown(n), ready: conditions.IsTrue(n.Status.Conditions, v1beta2.NodeReady),
		cordoned:  v1beta2.IsNodeCordoned(n),
		upgrading: n.Spec.UpgradeRequested,
	}
}

// everything stands for all disks of a node that is evicted; no disk has this UUID.
const everything = "/"

// evictionFacts are what must leave a node: everything, or the disks, by UUID.
func evictionFacts(n *v1beta2.Node) string {
	if n.Spec.EvictionRequested {
		return everything
	}
	var out []string
	if n.Status.AutoEvicting {
		out = append(out, "drained")
	}
	for name, disk := range n.Status.DiskStatus {
		if n.Spec.Disks[name].EvictionRequested {
			out = append(out, disk.DiskUUID)
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}
