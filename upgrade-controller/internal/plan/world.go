package plan

import (
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/upgrade/cluster"
)

// World is everything that was read about an upgrade. The objects belong to the cache and are not modified.
type World struct {
	Now     time.Time
	Manager *v1beta2.DataEngineUpgradeManager
	// Others are all other managers, Upgrades all upgrades of nodes, of any manager.
	Others   []*v1beta2.DataEngineUpgradeManager
	Upgrades []*v1beta2.NodeDataEngineUpgrade
	// DefaultImage is the setting default-instance-manager-image; "" where it names none.
	DefaultImage string
	Cluster      cluster.Cluster
	// Images is what is known of the new image by node; a node that is absent was not checked.
	Images map[string]Image
	// Fresh reports whether all this was read uncached.
	Fresh bool
}

// Image is what a pod on a node reported about the image, or why the pod could not be created.
type Image struct {
	// Known is false while the pod has not reported anything.
	Known bool
	// Missing is why the image cannot run on the node; "" with Known means that it can.
	Missing string
}

// Verdict is what to write: the status, then checks, then deletions and one creation. A status is written alone
// if the creation of an upgrade depends on it.
type Verdict struct {
	// Confirm requires the same decision on uncached reads; the rest of the verdict is ignored then.
	Confirm bool
	// AddFinalizer, DropFinalizer change the manager's finalizer.
	AddFinalizer, DropFinalizer bool
	// Check are the nodes on which a pod must run the image; DropChecks deletes all such pods.
	Check      []string
	DropChecks bool
	// Create is the node whose upgrade must be created, with its name; "" means none.
	Create, CreateName string
	// Delete are the upgrades of nodes that must be deleted.
	Delete []*v1beta2.NodeDataEngineUpgrade
	// Status is the whole wanted status.
	Status v1beta2.DataEngineUpgradeManagerStatus
	// RequeueAt is when to decide again at the latest; zero means when something changes.
	RequeueAt time.Time
}
