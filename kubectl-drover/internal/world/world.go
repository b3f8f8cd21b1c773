// Package world is what a command saw of the cluster: plain objects and the time. Reports are derived from it by pure functions.
package world

import (
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/volumesnapshot"
)

// World has the objects that a command asked for, as of one moment. A list that was not asked for is empty; one that could not be read is
// empty, too, and named in Unread.
type World struct {
	// Namespace is that of the custom resources.
	Namespace string
	// Now is the time at which they were read; ages are relative to it.
	Now time.Time
	// Connection are the flags by which the cluster was reached, for commands that are suggested: --context prod.
	Connection []string
	// Unread has what the API server refused or does not have.
	Unread []Unread

	Volumes           v1beta2.VolumeList
	Attachments       v1beta2.VolumeAttachmentList
	Engines           v1beta2.EngineList
	Frontends         v1beta2.EngineFrontendList
	Replicas          v1beta2.ReplicaList
	InstanceManagers  v1beta2.InstanceManagerList
	Nodes             v1beta2.NodeList
	Snapshots         v1beta2.SnapshotList
	Backups           v1beta2.BackupList
	BackupTargets     v1beta2.BackupTargetList
	RecurringJobs     v1beta2.RecurringJobList
	Orphans           v1beta2.OrphanList
	Settings          v1beta2.SettingList
	EngineImages      v1beta2.EngineImageList
	Upgrades          v1beta2.DataEngineUpgradeManagerList
	NodeUpgrades      v1beta2.NodeDataEngineUpgradeList
	Leases            coordinationv1.LeaseList
	Deployments       appsv1.DeploymentList
	Pods              corev1.PodList
	Events            corev1.EventList
	NetworkPolicies   networkingv1.NetworkPolicyList
	PersistentVolumes corev1.PersistentVolumeList
	// Claims are those that are labelled as sources of recurring jobs.
	Claims      corev1.PersistentVolumeClaimList
	Contents    volumesnapshot.ContentList
	Definitions metav1.PartialObjectMetadataList
}

// Unread is a list that could not be read, though the command continues without it.
type Unread struct {
	// Resource is what was asked for, such as pods or leases.coordination.k8s.io.
	Resource string `json:"resource"`
	// Reason is a sentence: why not, and what allows it.
	Reason string `json:"reason"`
}

// IsUnread reports whether a resource, such as nodes.longhorn.io, could not be read.
func (w *World) IsUnread(resource string) bool {
	return slices.ContainsFunc(w.Unread, func(u Unread) bool { return u.Resource == resource })
}

// Node returns the Longhorn Node of that name; nil where there is none.
func (w *World) Node(name string) *v1beta2.Node {
	for i := range w.Nodes.Items {
		if w.Nodes.Items[i].Name == name {
			return &w.Nodes.Items[i]
		}
	}
	return nil
}

// InstanceManager returns the instance manager of that name; nil where there is none.
func (w *World) InstanceManager(name string) *v1beta2.InstanceManager {
	for i := range w.InstanceManagers.Items {
		if w.InstanceManagers.Items[i].Name == name {
			return &w.InstanceManagers.Items[i]
		}
	}
	return nil
}

// InstanceManagersOf returns those of a node and data engine. An empty data engine is v1.
func (w *World) InstanceManagersOf(node, dataEngine string) []*v1beta2.InstanceManager {
	var out []*v1beta2.InstanceManager
	for i := range w.InstanceManagers.Items {
		im := &w.InstanceManagers.Items[i]
		if im.Spec.NodeID == node && DataEngine(im.Spec.DataEngine) == DataEngine(dataEngine) {
			out = append(out, im)
		}
	}
	return out
}

// DataEngine returns the data engine by name: an empty one is v1.
func DataEngine(engine string) string {
	if engine == "" {
		return v1beta2.DataEngineV1
	}
	return engine
}
