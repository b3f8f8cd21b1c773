// Package instancemanager decides what becomes of one InstanceManager: its pod, its place in the inventory, its status,
// and its end. It knows the pod, the node as Kubernetes sees it, the newest whole inventory and the settings; it refuses
// to know volumes.
//
//	          no pod                     pod pending              pod ready
//	stopped ─────────▶ (create) starting ─────────▶ starting ─────────▶ running ◀──┐
//	   ▲                  ▲                                                │       │ ready again
//	   │ blocked          │ back-off over                   failed, deleted│       │
//	   └───── error ◀─────┴────────────────────────────────────────────────┘    unknown: node down
//
// Three rules carry the rest. A pod is deleted and created again, never changed. A running instance is never ended by a policy
// of ours: an old or outdated one is replaced only after a list begun for that purpose shows that nothing runs on it.
// Unknown is not empty: without a whole list of the present epoch nothing is concluded about instances.
package instancemanager

import (
	"time"

	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/im-monitor/internal/node"
	"drover.dev/drover/im-monitor/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/managerimage"
)

// World is everything that the decision about one InstanceManager is made from.
type World struct {
	Now             time.Time
	Options         Options
	Settings        setting.Values
	InstanceManager *v1beta2.InstanceManager
	// Kubernetes is the node of spec.nodeID; nil means proven gone.
	Kubernetes *node.Kubernetes
	// NodeHolds is how long Kubernetes counts as it does although nothing changes; 0: for ever.
	NodeHolds time.Duration
	// Node is the Longhorn Node of spec.nodeID; nil where there is none.
	Node *v1beta2.Node
	// Pod is the pod of the InstanceManager's name, nil where there is none.
	Pod *corev1.Pod
	// Siblings are the node's other InstanceManagers of the same data engine, and of v2 the pods that deleted ones left.
	Siblings []Sibling
	// Upgrade is the live upgrade of the node; nil where none is under way.
	Upgrade *Upgrade
	// Mapped reports which engines map replicas there; it is read only where World.Replaceable asks for it.
	Mapped []string
	// Frontends are the engine frontends of the list; they are read only where World.Replaceable asks for it.
	Frontends []Frontend
	// Unsettled reports which volume with a replica on the node is on its way, and why; it is read together with the list that is begun for
	// the end of an idle instance manager.
	Unsettled string
	// Inventory is what runs there.
	Inventory Inventory
	// RetryAt is when a pod may be made again after failures; zero means at once.
	RetryAt time.Time
	// Logging reports whether the server logs as the settings demand.
	Logging Logging
}

// Sibling is another InstanceManager of the node and data engine.
type Sibling struct {
	Name   string
	Image  string
	HasPod bool
	// PodOnly reports whether its InstanceManager was deleted while its pod has not ended.
	PodOnly bool
	// New reports whether it never had a pod.
	New bool
	// Running reports whether new instances can run on it.
	Running bool
	// Runs names the engines and frontends that its newest list shows.
	Runs []string
}

// Version is the answer of VersionGet.
type Version struct {
	API, APIMin, Proxy, ProxyMin int
}

// Inventory is the newest whole list of the present pod's present epoch.
type Inventory struct {
	// Known is false where there is no such list; then Processes and Version report nothing.
	Known bool
	// Asked is true where the list was begun for this very decision.
	Asked bool
	// Settled is false while a v2 server may still be finding what outlived its restart.
	Settled bool
	// Gone are the replicas of the status that a v2 list lacks and that are proven not to be there. For a replica Settled is not enough: a
	// list lacks those of every disk that the server has not loaded.
	Gone map[string]bool
	// UnknownSince is when this process last saw it become unknown; zero where it is known.
	UnknownSince time.Time
	// Problem reports why it is unknown, where that is known.
	Problem   string
	Version   Version
	Processes Processes
}

// Processes are runtime instances by name, for each map of the status that im-monitor fills.
type Processes struct {
	Engines, EngineFrontends, Replicas map[string]v1beta2.InstanceProcess
}

// Options are im-monitor's own flags that concern instance managers and their pods.
type Options struct {
	// ServiceAccount is that of instance-manager pods. PullSecret is the name of a secret in the namespace, "" for that of the settings.
	ServiceAccount, PullSecret string
	// TLSSecret is mounted, where it exists, at /tls-files/. With RequireTLS no pod starts without it.
	TLSSecret  string
	RequireTLS bool
	// ControlPath is Longhorn's directory on the host that has engine binaries and Unix domain sockets.
	ControlPath string
	// Profiles are the operator's own, by image.
	Profiles map[string]managerimage.Profile
	// UnreachableAfter is how long no whole list may be readable before Reachable turns False.
	UnreachableAfter time.Duration
	// EngineLossPause is how long no idle instance manager is ended on a node with a replica of a volume that lost its engine.
	EngineLossPause time.Duration
}

// DefaultOptions are the options where no flag reports otherwise.
func DefaultOptions() Options {
	return Options{
		ServiceAccount: "longhorn-service-account", TLSSecret: "longhorn-grpc-tls", ControlPath: managerimage.ControlPath,
		UnreachableAfter: 15 * time.Second, EngineLossPause: 5 * time.Minute,
	}
}

func (w World) v2() bool { return w.InstanceManager.Spec.DataEngine == v1beta2.DataEngineV2 }
