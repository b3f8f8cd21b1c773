package instancemanager

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"drover.dev/drover/shared/api/v1beta2"
)

// Upgrade is the live upgrade of the node that is under way.
type Upgrade struct {
	UID          types.UID
	State, Image string
	// OldName and OldUID are the InstanceManager that it replaces, where that was chosen.
	OldName string
	OldUID  types.UID
}

// ActiveUpgrade reports whether an upgrade in this state has begun and not ended.
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
	case w.replaced() && w.leaving() != "" && w.Inventory.Known: // nothing enqueues this when a target elsewhere is back
		return Verdict{After: frontendPause}
	case w.replaced() && inUse(w) != "":
		return Verdict{}
	case w.replaced() && !w.Inventory.Asked:
		return Verdict{Ask: true}
	case w.replaced():
		return Verdict{Pod: DeletePod}
	case w.Pod == nil && w.mayStart():
		return start(w)
	}
	return Verdict{}
}

// mayStart reports whether a v2 instance manager of a node that an upgrade has gets a pod.
func (w World) mayStart() bool { return w.successor() || !isNew(w) || w.Upgrade == nil && Wanted(w) }

// replaced reports whether this is the instance manager that the upgrade replaces, and that its time has come.
func (w World) replaced() bool {
	u := w.Upgrade
	return u != nil && w.v2() && u.State == v1beta2.UpgradeStateUpgradingInstanceManager && u.OldName == w.InstanceManager.Name &&
		u.OldUID == w.InstanceManager.UID && w.InstanceManager.Spec.Image != u.Image
}

// UpgradeDecides reports whether the node's upgrade decides when the pod ends, not whether the volumes of the node are settled: it has v2
// instance managers alone.
func (w World) UpgradeDecides() bool { return w.Upgrade != nil && w.v2() }

// successor reports whether this is the instance manager that the upgrade brings.
func (w World) successor() bool {
	return w.Upgrade != nil && w.v2() && w.InstanceManager.Spec.Image == w.Upgrade.Image
}

// wantedImage returns the image that the instance manager must have: an upgrade freezes it.
func (w World) wantedImage() string {
	if w.Upgrade != nil && w.v2() {
		return w.Upgrade.Image
	}
	return w.Settings.Image
}

// inUse reports what speaks against the end of the pod: an engine that is listed there, one that maps a replica there, a frontend that
// would not outlive it.
func inUse(w World) string {
	p := w.Inventory.Processes
	switch engines := slices.Sorted(maps.Keys(p.Engines)); {
	case !w.Inventory.Known:
		return "what runs on it is unknown"
	case !w.Inventory.Settled:
		return "it just started and may not list everything yet"
	case len(engines) > 0:
		return fmt.Sprintf("%s on it", naming(kinds("engine", engines)))
	case w.successorRefused() != "":
		return "its successor would get no pod. " + strings.TrimSuffix(w.successorRefused(), ".")
	case len(w.Mapped) > 0:
		return strings.Join(w.Mapped[:min(len(w.Mapped), few)], "; ")
	}
	return w.leaving()
}

// leaving names the frontends that would not outlive the pod. Where lists show one that was not evaluated, nothing is concluded.
func (w World) leaving() string {
	polled := map[string]bool{}
	var why []string
	for _, f := range w.Frontends {
		polled[f.Name] = true
		if leaves := f.leaves(w); leaves != "" && len(why) < few {
			why = append(why, leaves)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(w.Inventory.Processes.EngineFrontends)) {
		if !polled[name] && len(why) < few {
			why = append(why, fmt.Sprintf("where engine frontend %s leads is unknown", name))
		}
	}
	return strings.Join(why, "; ")
}

// frontendPause is how long a replacement waits until it asks again where frontends lead.
const frontendPause = 15 * time.Second

// few is how many names a sentence has.
const few = 3

func naming(what []string) string {
	if len(what) == 1 {
		return what[0] + " is"
	}
	names := strings.Join(what[:min(len(what), few)], ", ")
	if more := len(what) - few; more > 0 {
		names += fmt.Sprintf(" and %d more", more)
	}
	return names + " are"
}

func kinds(kind string, names []string) []string {
	out := make([]string, 0, len(names))
	for _, name := range names {
		out = append(out, kind+" "+name)
	}
	return out
}

// Running names the engines and frontends of a status, for a sentence.
func Running(status v1beta2.InstanceManagerStatus) []string {
	return append(kinds("engine frontend", slices.Sorted(maps.Keys(status.InstanceEngineFrontends))),
		kinds("engine", slices.Sorted(maps.Keys(status.InstanceEngines)))...)
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

// Replaceable reports whether what maps the replicas there, and where the frontends there lead, has to be known.
func (w World) Replaceable() bool {
	return w.replaced() && w.Pod != nil && w.Inventory.Known && len(w.Inventory.Processes.Engines) == 0
}
