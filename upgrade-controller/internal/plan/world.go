package plan

import (
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/upgrade-controller/internal/cluster"
)

// World is everything that was read about an upgrade. The objects are the cache's: nothing modifies them.
type World struct {
	Now     time.Time
	Manager *v1beta2.DataEngineUpgradeManager
	// Others are all other managers, Upgrades the upgrades of nodes, whosever they are.
	Others   []*v1beta2.DataEngineUpgradeManager
	Upgrades []*v1beta2.NodeDataEngineUpgrade
	// DefaultImage is the setting default-instance-manager-image; "" where it names none.
	DefaultImage string
	Cluster      cluster.Cluster
	// Images is what is known of the new image by node; a node that is absent was not asked.
	Images map[string]Image
	// Fresh reports whether all this was read uncached.
	Fresh bool
}

// Image is what a pod on a node told of the image.
type Image struct {
	// Known is false while the pod has not told anything.
	Known bool
	// Missing is why the image cannot run there; "" with Known means that it can.
	Missing string
}

// Verdict is what shall be made true: checks, then the status, then one deletion or creation. A status is written alone
// where a creation rests on it.
type Verdict struct {
	// Confirm asks for the same decision on uncached reads; nothing else of the verdict counts then.
	Confirm bool
	// AddFinalizer, DropFinalizer change the manager's finalizer.
	AddFinalizer, DropFinalizer bool
	// Check are the nodes on which a pod shall try the image; DropChecks takes all such pods away.
	Check      []string
	DropChecks bool
	// Create is the node whose upgrade shall be made, with its name; "" means none.
	Create, CreateName string
	// Delete are the upgrades of nodes that shall be deleted.
	Delete []*v1beta2.NodeDataEngineUpgrade
	// Status is the whole wanted status.
	Status v1beta2.DataEngineUpgradeManagerStatus
	// RequeueAt is when to decide again at the latest; zero means when something changes.
	RequeueAt time.Time
}
