package orphan

import (
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"drover.dev/drover/shared/api/v1beta2"
)

// World is the whole input of one decision about one orphan. The order of lists does not matter.
type World struct {
	Now time.Time
	// DeletionSeen is when this process first saw the orphan being deleted; zero while it is not.
	DeletionSeen time.Time
	// Orphan is the orphan as it was read; never nil.
	Orphan *v1beta2.Orphan
	// Node is the Longhorn node of the orphan's spec; nil: it does not exist.
	Node *v1beta2.Node
	// InstanceManager is the one that the orphan's parameters name; nil: it does not exist.
	InstanceManager *v1beta2.InstanceManager
	// Engine and Replica are the CRs of the instance's name; nil: none exists. Only the one of the orphan's type is read.
	Engine  *v1beta2.Engine
	Replica *v1beta2.Replica
	// Volume is the volume that the instance belongs to; nil: it does not exist.
	Volume *v1beta2.Volume
	// PersistentVolume reports whether one with that volume's handle exists.
	PersistentVolume bool
	// Copies are the Replica CRs of that volume, where the instance is a replica.
	Copies []Copy
	// UsesUnnamed is a running engine of that volume that uses a replica which no Replica CR names; empty: none.
	UsesUnnamed string
	// Siblings are the other orphans of the node that were created within FloodWindow of this one.
	Siblings []Sibling
	// NodeInstances is how many instances the node's instance managers have.
	NodeInstances int
	// InFlight counts the other orphans of the node whose deletion by policy is approved, not finished, and has not failed.
	InFlight int
	Settings Settings
	Limits   Limits
}

// Copy is a Replica CR together with the node that it names; nil: that node does not exist.
type Copy struct {
	Replica *v1beta2.Replica
	Node    *v1beta2.Node
	// Listed: the newest list of an instance manager of its node shows its instance as running, with the UUID that the CR names. InUse: a
	// running engine of the volume lists it as RW.
	Listed, InUse bool
}

// Sibling is what the flood rule reads of another orphan.
type Sibling struct {
	UID     types.UID
	Created time.Time
	// Rule is the reason of Orphaned, Approval that of CleanupApproved; "" while there is none.
	Rule, Approval string
	Withdrawn      bool
	// GivenUp reports whether a person recorded that it is given up.
	GivenUp bool
	// Data is true for the data of a v2 replica, which may be an instance, too: the two are counted apart.
	Data bool
}

// AutoDeletion is the setting's value for one kind of orphan.
type AutoDeletion string

// The values of AutoDeletion.
const (
	// Off: the setting is readable and lacks the item.
	Off AutoDeletion = "off"
	// On: the setting has the item.
	On AutoDeletion = "on"
	// Unreadable: nothing is deleted automatically, but no person turned it off.
	Unreadable AutoDeletion = "unreadable"
)

// Settings are those in force.
type Settings struct {
	Instance, ReplicaData AutoDeletion
	GracePeriod           time.Duration
}

// Limits are the limits of the policies.
type Limits struct {
	// FloodCount orphans that are also more than FloodPercent of a node's instances, created within FloodWindow, are a flood.
	FloodCount   int
	FloodPercent int
	FloodWindow  time.Duration
	// InFlightPerNode bounds the deletions by policy that are under way at once on a node.
	InFlightPerNode int
	// EvaluationWait is how long a deleted orphan that im-monitor never evaluated waits for an evaluation. It is longer than im-monitor leaves
	// deleted orphans alone after its election.
	EvaluationWait time.Duration
	// DryRun reports what policy would delete and deletes nothing by policy.
	DryRun bool
}

// DefaultLimits are the default limits. The window of a flood is as long as the default grace period: what is older has been deleted.
func DefaultLimits() Limits {
	return Limits{FloodCount: 10, FloodPercent: 20, FloodWindow: 5 * time.Minute, InFlightPerNode: 10, EvaluationWait: 10 * time.Minute}
}

// Validate names every limit that makes no sense.
func (l Limits) Validate() error {
	var problems []error
	if l.FloodCount < 1 {
		problems = append(problems, fmt.Errorf("flood count %d: give at least 1", l.FloodCount))
	}
	if l.FloodPercent < 0 || l.FloodPercent > 100 {
		problems = append(problems, fmt.Errorf("flood percent %d: give 0 to 100", l.FloodPercent))
	}
	if l.FloodWindow < time.Second {
		problems = append(problems, fmt.Errorf("flood window %s: give at least 1s", l.FloodWindow))
	}
	if l.InFlightPerNode < 1 {
		problems = append(problems, fmt.Errorf("policy deletions per node %d: give at least 1", l.InFlightPerNode))
	}
	if l.EvaluationWait < 0 {
		problems = append(problems, fmt.Errorf("evaluation wait %s is negative", l.EvaluationWait))
	}
	return errors.Join(problems...)
}
