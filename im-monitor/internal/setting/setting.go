// Package setting reads the values of Longhorn Settings that im-monitor obeys. It decides what a value means and which
// one stays in force when a bad one is set; it refuses to know where values come from.
package setting

import (
	"errors"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// Names of the Settings that im-monitor reads.
const (
	DefaultInstanceManagerImage = "default-instance-manager-image"
	V1DataEngine                = "v1-data-engine"
	V2DataEngine                = "v2-data-engine"
	TaintToleration             = "taint-toleration"
	PriorityClass               = "priority-class"
	RegistrySecret              = "registry-secret"
	NodeSelector                = "system-managed-components-node-selector"
	DisableSchedulingOnCordoned = "disable-scheduling-on-cordoned-node"
	EngineReplicaTimeout        = "engine-replica-timeout"
	FileSyncTimeout             = "replica-file-sync-http-client-timeout"
	RebuildConcurrency          = "replica-rebuild-concurrent-sync-limit"
	UblkQueueDepth              = "default-ublk-queue-depth"
	UblkNumberOfQueue           = "default-ublk-number-of-queue"
	IOQueues                    = "default-nvme-tcp-nr-io-queues"
	MinimalAvailable            = "storage-minimal-available-percentage"
	OverProvisioning            = "storage-over-provisioning-percentage"
	CleanUpSystemSnapshots      = "auto-cleanup-system-generated-snapshot"
	DisablePurge                = "disable-snapshot-purge"
	PurgesPerNode               = "snapshot-heavy-task-concurrent-limit"
	NodeDrainPolicy             = "node-drain-policy"
	ClusterAutoscaler           = "kubernetes-cluster-autoscaler-enabled"
)

// Names lists every Setting of this package, in the order in which problems are reported.
func Names() []string {
	return []string{DefaultInstanceManagerImage, V1DataEngine, V2DataEngine, TaintToleration, PriorityClass,
		RegistrySecret, NodeSelector, DisableSchedulingOnCordoned, EngineReplicaTimeout, FileSyncTimeout, RebuildConcurrency,
		UblkQueueDepth, UblkNumberOfQueue,
		IOQueues, MinimalAvailable, OverProvisioning, CleanUpSystemSnapshots, DisablePurge, PurgesPerNode, NodeDrainPolicy,
		ClusterAutoscaler}
}

// Values are the settings in force.
type Values struct {
	// Image is the default instance-manager image; empty means that none was chosen, and no instance manager is made.
	Image string
	// V1 and V2 report which data engines are enabled. V1 is on and V2 off where nothing is set, as in Longhorn.
	V1, V2 bool
	// Tolerations, PriorityClass, RegistrySecret and NodeSelector go into every new instance-manager pod. RegistrySecret is the Secret in
	// the namespace with which the image is pulled, empty for none.
	Tolerations    []corev1.Toleration
	PriorityClass  string
	RegistrySecret string
	// NodeSelector also chooses the Kubernetes nodes that get a Longhorn Node.
	NodeSelector map[string]string
	// DisableSchedulingOnCordoned makes a cordoned node not schedulable; true where nothing is set.
	DisableSchedulingOnCordoned bool
	// Engine goes into every v1 engine that is started.
	Engine Engine
	// Frontend goes into every v2 engine and frontend that is started.
	Frontend Frontend
	// MinimalAvailable and OverProvisioning are the percentages from which on a v2 disk takes no further replica.
	MinimalAvailable, OverProvisioning int
	// CleanUpSystemSnapshots lets the system snapshots be purged that rebuilds leave; DisablePurge forbids it. PurgesPerNode is how many
	// engines of a node may merge snapshots at once; 0 is no limit.
	CleanUpSystemSnapshots, DisablePurge bool
	PurgesPerNode                        int
	// DrainPolicy reports how long a cordoned node's instance managers keep drains waiting. ClusterAutoscaler lets each node be evaluated
	// like a cordoned one.
	DrainPolicy       DrainPolicy
	ClusterAutoscaler bool
}

// Defaults are the values in force where nothing is set.
func Defaults() Values {
	return Values{V1: true, DisableSchedulingOnCordoned: true, MinimalAvailable: minimalAvailable.byDefault,
		OverProvisioning:       overProvisioning.byDefault,
		CleanUpSystemSnapshots: true, PurgesPerNode: purgesPerNode.byDefault, DrainPolicy: BlockIfContainsLastReplica,
		Engine: Engine{ReplicaTimeout: replicaTimeout.byDefault, FileSyncTimeout: fileSyncTimeout.byDefault,
			RebuildConcurrency: rebuildConcurrency.byDefault},
		Frontend: Frontend{UblkQueueDepth: ublkQueueDepth.byDefault, UblkNumberOfQueue: ublkNumberOfQueue.byDefault,
			IOQueues: ioQueues.byDefault}}
}

// Problem is one bad value. The value that was in force before stays in force.
type Problem struct {
	// Setting is the Setting's name; Value is what was refused.
	Setting, Value string
	// Err reports what is wrong with it and what would be right.
	Err error
}

// Parse converts raw values (absent or empty means the default) into those in force. Where a raw value is bad, that of
// last is kept.
func Parse(raw map[string]string, last Values) (Values, []Problem) {
	values := last
	var problems []Problem
	for _, name := range Names() {
		if err := set(&values, name, strings.TrimSpace(raw[name])); err != nil {
			problems = append(problems, Problem{Setting: name, Value: raw[name], Err: err})
		}
	}
	return values, problems
}

// set puts one value in force, or leaves values untouched and reports why not.
func set(values *Values, name, raw string) error {
	var err error
	switch name {
	case DefaultInstanceManagerImage:
		err = assign(&values.Image, raw, parseImage)
	case V1DataEngine:
		err = assign(&values.V1, raw, parseBool(Defaults().V1))
	case V2DataEngine:
		err = assign(&values.V2, raw, parseBool(Defaults().V2))
	case TaintToleration:
		err = assign(&values.Tolerations, raw, parseTolerations)
	case PriorityClass:
		err = assign(&values.PriorityClass, raw, parseName("a PriorityClass"))
	case RegistrySecret:
		err = assign(&values.RegistrySecret, raw, parseName("a Secret"))
	case NodeSelector:
		err = assign(&values.NodeSelector, raw, parseSelector)
	case DisableSchedulingOnCordoned:
		err = assign(&values.DisableSchedulingOnCordoned, raw, parseBool(Defaults().DisableSchedulingOnCordoned))
	case EngineReplicaTimeout:
		err = assign(&values.Engine.ReplicaTimeout, raw, replicaTimeout.parse)
	case FileSyncTimeout:
		err = assign(&values.Engine.FileSyncTimeout, raw, fileSyncTimeout.parse)
	case MinimalAvailable:
		err = assign(&values.MinimalAvailable, raw, minimalAvailable.parse)
	case OverProvisioning:
		err = assign(&values.OverProvisioning, raw, overProvisioning.parse)
	case CleanUpSystemSnapshots:
		err = assign(&values.CleanUpSystemSnapshots, raw, parseBool(Defaults().CleanUpSystemSnapshots))
	case DisablePurge:
		err = assign(&values.DisablePurge, raw, parseBool(Defaults().DisablePurge))
	case PurgesPerNode:
		err = assign(&values.PurgesPerNode, raw, purgesPerNode.parse)
	case NodeDrainPolicy:
		err = assign(&values.DrainPolicy, raw, parseDrainPolicy)
	case ClusterAutoscaler:
		err = assign(&values.ClusterAutoscaler, raw, parseBool(Defaults().ClusterAutoscaler))
	case RebuildConcurrency:
		err = assign(&values.Engine.RebuildConcurrency, raw, rebuildConcurrency.parse)
	case UblkQueueDepth:
		err = assign(&values.Frontend.UblkQueueDepth, raw, ublkQueueDepth.parse)
	case UblkNumberOfQueue:
		err = assign(&values.Frontend.UblkNumberOfQueue, raw, ublkNumberOfQueue.parse)
	case IOQueues:
		err = assign(&values.Frontend.IOQueues, raw, ioQueues.parse)
	}
	return err
}

func assign[T any](target *T, raw string, parse func(string) (T, error)) error {
	parsed, err := parse(raw)
	if err != nil {
		return err
	}
	*target = parsed
	return nil
}

func parseImage(raw string) (string, error) {
	if strings.ContainsAny(raw, " \t\n;,\"'") || len(raw) > 1024 {
		return "", errors.New("is not an image reference: give one name:tag or name@digest without blanks")
	}
	return raw, nil
}

func parseBool(byDefault bool) func(string) (bool, error) {
	return func(raw string) (bool, error) {
		switch raw {
		case "":
			return byDefault, nil
		case "true":
			return true, nil
		case "false":
			return false, nil
		}
		return false, fmt.Errorf("is %q: give true or false", raw)
	}
}
