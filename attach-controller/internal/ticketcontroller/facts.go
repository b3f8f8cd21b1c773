package ticketcontroller

import (
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	"drover.dev/drover/attach-controller/internal/ticket"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// changed passes updates that change the facts of an object that the core reads.
func changed[F comparable](facts func(client.Object) F) predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		return differ(facts, e.ObjectOld, e.ObjectNew)
	}}
}

func differ[F comparable](facts func(client.Object) F, before, after client.Object) bool {
	return before.GetUID() != after.GetUID() || facts(before) != facts(after)
}

type ofVolumes struct {
	generation      int64
	state, robust   string
	restore, going  bool
	clone, unplaced string
	accepted        int64
}

// volumeFacts: the generation stands for the spec.
func volumeFacts(obj client.Object) ofVolumes {
	v := obj.(*v1beta2.Volume)
	f := ofVolumes{
		generation: v.Generation, state: v.Status.State, robust: v.Status.Robustness, restore: v.Status.RestoreRequired,
		going: v.DeletionTimestamp != nil, clone: v.Status.CloneStatus.State, accepted: v.Status.AcceptedSize,
	}
	if c := conditions.Get(v.Status.Conditions, "Scheduled"); c != nil {
		f.unplaced = string(c.Status)
	}
	return f
}

type ofAttachments struct {
	generation int64
	going      bool
}

// attachmentFacts: the generation stands for the tickets; their answers change nothing here.
func attachmentFacts(obj client.Object) ofAttachments {
	return ofAttachments{generation: obj.GetGeneration(), going: obj.GetDeletionTimestamp() != nil}
}

type ofEngines struct {
	size, wanted  int64
	active, going bool
	failed        string // when the last expansion did
	filled        bool   // with the backup that was asked for
}

func engineFacts(obj client.Object) ofEngines {
	e := obj.(*v1beta2.Engine)
	return ofEngines{e.Status.CurrentSize, e.Spec.VolumeSize, e.Spec.Active, e.DeletionTimestamp != nil, e.Status.LastExpansionFailedAt,
		ticket.Filled(e)}
}

type ofReplicas struct {
	node, disk      string
	failed, healthy bool
	going           bool
}

func replicaFacts(obj client.Object) ofReplicas {
	r := obj.(*v1beta2.Replica)
	return ofReplicas{r.Spec.NodeID, r.Spec.DiskID, r.Spec.FailedAt != "", r.Spec.HealthyAt != "", r.DeletionTimestamp != nil}
}

type ofShares struct{ node string }

func shareFacts(obj client.Object) ofShares {
	return ofShares{obj.(*v1beta2.ShareManager).Status.OwnerID}
}

type ofPlaces struct {
	down, ready, cordoned, upgrading bool
}

// placeFacts are those of a node that decide whether volumes may be attached there.
func placeFacts(obj client.Object) ofPlaces {
	n := obj.(*v1beta2.Node)
	return ofPlaces{
		down: v1beta2.IsNodeDown(n), ready: conditions.IsTrue(n.Status.Conditions, v1beta2.NodeReady),
		cordoned:  conditions.Reason(n.Status.Conditions, v1beta2.NodeSchedulable) == v1beta2.ReasonKubernetesNodeCordoned,
		upgrading: n.Spec.UpgradeRequested,
	}
}

// everything stands for all disks of a node that is evicted; no disk has this UUID.
const everything = "/"

// evictionFacts are what must leave a node: everything, or the disks, by UUID.
func evictionFacts(obj client.Object) string {
	n := obj.(*v1beta2.Node)
	if n.Spec.EvictionRequested {
		return everything
	}
	var out []string
	for name, disk := range n.Status.DiskStatus {
		if n.Spec.Disks[name].EvictionRequested {
			out = append(out, disk.DiskUUID)
		}
	}
	slices.Sort(out)
	return strings.Join(out, " ")
}
