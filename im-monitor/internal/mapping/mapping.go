// Package mapping finds the running engine that uses a v2 replica: whoever destroys a replica's data asks it first. It
// reads nothing; package mappingreader does.
package mapping

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"drover.dev/drover/shared/api/v1beta2"
)

// Engine is what is read of an Engine that may map a replica.
type Engine struct {
	Name string
	// Running is true unless the object is stopped and must be.
	Running bool
	// Replicas are the addresses by replica name in spec and status; a name that stands only in the modes has "".
	Replicas map[string]string
}

// Place is one instance manager that may run an engine of the volume.
type Place struct {
	InstanceManager, Node string
	// Down is true when it does not answer and runs nothing, as far as the API server knows: it is stopped, or its node is
	// down or gone. A known inventory is stronger: a node whose kubelet is dead may still run engines.
	Down bool
	// Needed is true when an engine of this volume may run there, so that its inventory must be known. The others
	// only testify against a deletion.
	Needed bool
	// Known is true when the newest whole inventory is at hand.
	Known bool
	// MappedBy is the engine in that inventory that maps the replica, with the address that it uses; "" when none.
	MappedBy, MappedAddress string
}

// Use is a running engine that maps a replica, with the address that it uses. Node is "" where only an Engine object reports
// so.
type Use struct{ Engine, Node, Address string }

// Uses are the running engines that map a replica: those of the Engine objects first, then those of the inventories.
func Uses(replica string, engines []Engine, places []Place) []Use {
	var out []Use
	for _, e := range engines {
		if address, ok := e.Replicas[replica]; ok && e.Running {
			out = append(out, Use{Engine: e.Name, Address: address})
		}
	}
	for _, p := range places {
		if p.MappedBy != "" {
			out = append(out, Use{Engine: p.MappedBy, Node: p.Node, Address: p.MappedAddress})
		}
	}
	return out
}

// Sentence reports why a use keeps the replica.
func (u Use) Sentence(replica string) string {
	if u.Node == "" {
		return fmt.Sprintf("Engine %s maps replica %s; it is deleted once no running engine does.", u.Engine, replica)
	}
	return fmt.Sprintf("Engine %s on node %s maps replica %s; it is deleted once no running engine does. If that engine is an Orphan, "+
		"delete the Orphan.", u.Engine, u.Node, replica)
}

// Unasked reports which nodes may run an engine that maps the replica and cannot be asked; "" when there is none.
func Unasked(replica string, places []Place) string {
	var unknown []string
	for _, p := range places {
		if p.MappedBy == "" && p.Needed && !p.Known && !p.Down {
			unknown = append(unknown, p.Node)
		}
	}
	if len(unknown) == 0 {
		return ""
	}
	slices.Sort(unknown)
	return fmt.Sprintf("An engine that maps replica %s may run on %s, whose instance manager does not answer.", replica,
		some(slices.Compact(unknown)))
}

// some names the first few of many.
func some(names []string) string {
	const limit = 5
	if len(names) > limit {
		return fmt.Sprintf("%s and %d more nodes", strings.Join(names[:limit], ", "), len(names)-limit)
	}
	return strings.Join(names, ", ")
}

// EngineOf is what an Engine object reports.
func EngineOf(e *v1beta2.Engine) Engine {
	out := Engine{Name: e.Name, Replicas: map[string]string{},
		Running: e.Spec.DesireState == v1beta2.InstanceStateRunning || e.Status.CurrentState != v1beta2.InstanceStateStopped}
	for name := range e.Status.ReplicaModeMap {
		out.Replicas[name] = ""
	}
	for _, m := range []map[string]string{e.Spec.ReplicaAddressMap, e.Spec.UpgradedReplicaAddressMap, e.Status.CurrentReplicaAddressMap} {
		for name, address := range m {
			out.Replicas[name] = address
		}
	}
	return out
}

// Order sorts places by name.
func Order(places []Place) {
	slices.SortFunc(places, func(a, b Place) int { return cmp.Compare(a.InstanceManager, b.InstanceManager) })
}
