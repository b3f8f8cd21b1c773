// Package abandoned decides which instances are recorded as abandoned in Node.status.abandonedInstances, and when a record is obsolete. It
// deletes nothing: the controllers that release an Engine or Replica ask it for instances whose end is not proven.
package abandoned

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// Kind is the kind of instances of an instance manager.
type Kind int

// The kinds. Frontends are not evaluated as orphans, so they need no record.
const (
	Engines Kind = iota
	Replicas
)

// Listing is an instance of the name that an instance manager lists, or listed last before its node went down.
type Listing struct {
	Node             string
	UUID, DataEngine string
	// Recorded is the entry of the name in that node's status; nil: none.
	Recorded *v1beta2.AbandonedInstance
}

// Record is one entry to write before a finalizer is dropped.
type Record struct {
	Node, Name string
	Instance   v1beta2.AbandonedInstance
}

// Holder is an Engine or Replica that is released.
type Holder struct {
	Name   string
	Volume types.UID
	// Node is where the end of its instance is proven; empty: nowhere.
	Node string
}

// Records are the missing entries: of each instance of the holder's name whose end is not proven.
func Records(h Holder, listed []Listing, now time.Time) []Record {
	var out []Record
	for _, l := range listed {
		if l.Node == h.Node || l.UUID == "" || l.Recorded != nil && l.Recorded.UUID == l.UUID && l.Recorded.DataEngine == l.DataEngine {
			continue
		}
		out = append(out, Record{Node: l.Node, Name: h.Name, Instance: v1beta2.AbandonedInstance{
			UUID: l.UUID, DataEngine: l.DataEngine, VolumeUID: string(h.Volume), At: now.UTC().Format(time.RFC3339),
		}})
	}
	return out
}

// Listed is what instance managers list under the name, each with its node's entry. A node that does not exist takes no record.
func Listed(kind Kind, name string, managers []v1beta2.InstanceManager, nodes map[string]*v1beta2.Node) []Listing {
	var out []Listing
	for i := range managers {
		m := &managers[i]
		entry, ok := instancesOf(kind, m)[name]
		node := nodes[m.Spec.NodeID]
		if !ok || node == nil {
			continue
		}
		l := Listing{Node: node.Name, UUID: entry.Status.UUID, DataEngine: m.Spec.DataEngine}
		if recorded, is := node.Status.AbandonedInstances[name]; is {
			l.Recorded = &recorded
		}
		out = append(out, l)
	}
	return out
}

func instancesOf(kind Kind, m *v1beta2.InstanceManager) map[string]v1beta2.InstanceProcess {
	if kind == Engines {
		return m.Status.InstanceEngines
	}
	return m.Status.InstanceReplicas
}

// Over are the names of a node's entries whose instance has ended: the node is in service, its instance managers of the data engine
// answer, and none of them lists the instance any more. An instance manager keeps its last list until a newer one proves that an instance
// is gone.
func Over(node *v1beta2.Node, managers []v1beta2.InstanceManager) []string {
	if v1beta2.IsNodeDown(node) {
		return nil
	}
	var out []string
	for name, entry := range node.Status.AbandonedInstances {
		if over(name, entry, managers) {
			out = append(out, name)
		}
	}
	slices.Sort(out)
	return out
}

func over(name string, entry v1beta2.AbandonedInstance, managers []v1beta2.InstanceManager) bool {
	asked := false
	for i := range managers {
		m := &managers[i]
		if m.Spec.DataEngine != entry.DataEngine {
			continue
		}
		if !answers(m) || lists(m, name, entry.UUID) {
			return false
		}
		asked = true
	}
	return asked
}

func answers(m *v1beta2.InstanceManager) bool {
	return m.Status.CurrentState == v1beta2.InstanceManagerStateRunning &&
		conditions.IsTrue(m.Status.Conditions, v1beta2.InstanceManagerReachable)
}

func lists(m *v1beta2.InstanceManager, name, uuid string) bool {
	return m.Status.InstanceEngines[name].Status.UUID == uuid || m.Status.InstanceReplicas[name].Status.UUID == uuid
}
