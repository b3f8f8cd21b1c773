// Package engineimage decides about one EngineImage: its DaemonSet, which copies the binary of v1 engines to each node, the versions of the
// binary, its references, and its end. It knows pods only as far as they are ready.
//
// Two rules carry the rest. The pods of a DaemonSet remove the binary when they end, so that a DaemonSet is changed only if nobody can need
// the binary meanwhile, or if a person changes the probes. And an image goes only after everything that may name it was read from the API
// server.
package engineimage

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/im-monitor/internal/setting"
	"drover.dev/drover/shared/api/v1beta2"
)

// World has everything that the decision about one EngineImage depends on.
type World struct {
	Now      time.Time
	Options  Options
	Settings setting.Values
	// Name is the name of the EngineImage; Image is nil if it does not exist.
	Name  string
	Image *v1beta2.EngineImage
	// DaemonSet is the DaemonSet of the image, nil if there is none. Pods are its pods.
	DaemonSet *appsv1.DaemonSet
	Pods      []Pod
	// Nodes are the Longhorn Nodes, by name.
	Nodes      []Node
	References References
	// VersionPod is the pod that reads the versions of the binary, nil if there is none.
	VersionPod *corev1.Pod
	// RetryAt is the time from which such a pod may be created after a failure; zero means now.
	RetryAt time.Time
}

// Options are im-monitor's own flags that concern the pods.
type Options struct {
	// Namespace is the namespace of all objects.
	Namespace string
	// ServiceAccount is the ServiceAccount of the DaemonSet's pods. PullSecret is the name of a Secret; "" for the one of the settings.
	ServiceAccount, PullSecret string
	// ControlPath is Longhorn's directory on the host, which has engine-binaries.
	ControlPath string
}

// Pod is a pod of the DaemonSet.
type Pod struct {
	Name, Node string
	// Ready reports whether all of its containers are ready.
	Ready bool
	// Problem is the cause if it is not ready, as far as its status has one.
	Problem string
}

// Node is a Longhorn Node.
type Node struct {
	Name string
	// Ready reports its condition Ready.
	Ready bool
	// Labels are the labels of its Kubernetes node.
	Labels map[string]string
}

// References is the number of objects that name an image, or run it.
type References struct {
	Count int
	// Fresh reports whether all of them were read from the API server for this decision.
	Fresh bool
	// Rest is how long the number is the last one that was counted; 0: it was counted now.
	Rest time.Duration
	// Runs reports whether a process of the image runs or is to run. It is read only if the DaemonSet is outdated.
	Runs bool
}

// Action is a change of an object beside the EngineImage.
type Action int

// The actions.
const (
	Leave Action = iota
	Create
	Change
	Delete
)

// Verdict is a decision.
type Verdict struct {
	// Create is the EngineImage to create.
	Create *v1beta2.EngineImage
	// Mark adds the labels and the finalizer that are missing.
	Mark bool
	// DaemonSet and VersionPod are the changes of these objects. Failed reports that the pod has no answer.
	DaemonSet, VersionPod Action
	Failed                bool
	// Status is the wanted status.
	Status v1beta2.EngineImageStatus
	// Recount asks for a decision on references that were read from the API server.
	Recount bool
	// Delete deletes the EngineImage, Release drops its finalizer.
	Delete, Release bool
	// After is the time after which the decision may differ although nothing changes; 0: never.
	After time.Duration
}
