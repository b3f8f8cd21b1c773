package instancemanager

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"drover.dev/drover/shared/api/v1beta2"
)

// Upgrade is the live upgrade of the node that is under way.
type Upgrade struct {
	State, Image string
	// OldName and OldUID are the InstanceManager that it replaces, where that was chosen.
	OldName string
	OldUID  types.UID
}

// ActiveUpgrade tells that an upgrade in this state has begun and not ended.
func ActiveUpgrade(state string) bool {
	switch state {
	case v1beta2.UpgradeStateInitializing, v1beta2.UpgradeStateSwitchingOver, v1beta2.UpgradeStateDetachingReplicas,
		v1beta2.UpgradeStateUpgradingInstanceManager, v1beta2.UpgradeStateSwitchingBack, v1beta2.UpgradeStateRebuildingReplica,
		v1beta2.UpgradeStateRollingBack:
		return true
	}
	return false
}

// upgraded are the rules for a v2 instance manager of a node that an upgrade has: it alone replaces what runs there.
//
//	the one to be replaced, its time come   pod kept while something runs → pod deleted → InstanceManager removed
//	no pod, and it is of the new image, or  started, once no other one has a pod
//	ran before
//	no pod, and it never ran                waits for the end of the upgrade
func upgraded(w World) Verdict {
	switch {
	case w.replaced() && w.Pod == nil:
		return Verdict{Remove: true}
	case w.replaced() && inUse(w) != "":
		return Verdict{}
	case w.replaced() && !w.Inventory.Asked:
		return Verdict{Ask: true}
	case w.replaced():
		return Verdict{Pod: DeletePod}
	case w.Pod == nil && (w.successor() || !isNew(w) || w.Upgrade == nil && Wanted(w)):
		return start(w)
	}
	return Verdict{}
}

// replaced tells that this is the instance manager that the upgrade replaces, and that its time has come.
func (w World) replaced() bool {
	u := w.Upgrade
	return u != nil && w.v2() && u.State == v1beta2.UpgradeStateUpgradingInstanceManager && u.OldName == w.InstanceManager.Name &&
		u.OldUID == w.InstanceManager.UID && w.InstanceManager.Spec.Image != u.Image
}

// successor tells that this is the instance manager that the upgrade brings.
func (w World) successor() bool {
	return w.Upgrade != nil && w.v2() && w.InstanceManager.Spec.Image == w.Upgrade.Image
}

// image is the one that the instance manager shall have: an upgrade freezes it.
func (w World) image() string {
	if w.Upgrade != nil && w.v2() {
		return w.Upgrade.Image
	}
	return w.Settings.Image
}

// inUse says what speaks against the end of the pod: an engine that is listed there, or one that maps a replica there. Frontends outlive it.
func inUse(w World) string {
	p := w.Inventory.Processes
	switch engines := slices.Sorted(maps.Keys(p.Engines)); {
	case !w.Inventory.Known:
		return "what runs on it is unknown"
	case !w.Inventory.Settled:
		return "it just started and may not list everything yet"
	case len(engines) > 0:
		return fmt.Sprintf("%s on it", said(engines))
	case len(w.Mapped) > 0:
		return strings.Join(w.Mapped[:min(len(w.Mapped), few)], "; ")
	}
	return ""
}

// few is how many names a sentence has.
const few = 3

func said(engines []string) string {
	if len(engines) == 1 {
		return "engine " + engines[0] + " is"
	}
	names := strings.Join(engines[:min(len(engines), few)], ", ")
	if more := len(engines) - few; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return "engines " + names + " are"
}

// Serving are the names of the replicas that are listed and do not just keep data: an engine may map them.
func (p Processes) Serving() []string {
	var out []string
	for name, r := range p.Replicas {
		if r.Status.State != v1beta2.InstanceStateStopped {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

// Replaceable tells that what maps the replicas there has to be known.
func (w World) Replaceable() bool {
	return w.replaced() && w.Pod != nil && w.Inventory.Known && len(w.Inventory.Processes.Engines) == 0
}
