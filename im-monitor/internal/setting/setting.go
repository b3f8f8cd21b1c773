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
		if err := setters[name](&values, strings.TrimSpace(raw[name])); err != nil {
			problems = append(problems, Problem{Setting: name, Value: raw[name], Err: err})
		}
	}
	return values, problems
}

// setters put one value in force, or leave values untouched and return why not.
var setters = map[string]func(values *Values, raw string) error{
	DefaultInstanceManagerImage: func(v *Values, raw string) error { return assign(&v.Image, raw, parseImage) },
	V1DataEngine:                func(v *Values, raw string) error { return assign(&v.V1, raw, parseBool(Defaults().V1)) },
	V2DataEngine:                func(v *Values, raw string) error { return assign(&v.V2, raw, parseBool(Defaults().V2)) },
	TaintToleration:             func(v *Values, raw string) error { return assign(&v.Tolerations, raw, parseTolerations) },
	PriorityClass:               func(v *Values, raw string) error { return assign(&v.PriorityClass, raw, parseName("a PriorityClass")) },
	RegistrySecret:              func(v *Values, raw string) error { return assign(&v.RegistrySecret, raw, parseName("a Secret")) },
	NodeSelector:                func(v *Values, raw string) error { return assign(&v.NodeSelector, raw, parseSelector) },
	DisableSchedulingOnCordoned: func(v *Values, raw string) error {
		return assign(&v.DisableSchedulingOnCordoned, raw, parseBool(Defaults().DisableSchedulingOnCordoned))
	},
	EngineReplicaTimeout: func(v *Values, raw string) error { return assign(&v.Engine.ReplicaTimeout, raw, replicaTimeout.parse) },
	FileSyncTimeout: func(v *Values, raw string) error {
		return assign(&v.Engine.FileSyncTimeout, raw, fileSyncTimeout.parse)
	},
	MinimalAvailable: func(v *Values, raw string) error { return assign(&v.MinimalAvailable, raw, minimalAvailable.parse) },
	OverProvisioning: func(v *Values, raw string) error { return assign(&v.OverProvisioning, raw, overProvisioning.parse) },
	CleanUpSystemSnapshots: func(v *Values, raw string) error {
		return assign(&v.CleanUpSystemSnapshots, raw, parseBool(Defaults().CleanUpSystemSnapshots))
	},
	DisablePurge: func(v *Values, raw string) error {
		return assign(&v.DisablePurge, raw, parseBool(Defaults().DisablePurge))
	},
	PurgesPerNode:   func(v *Values, raw string) error { return assign(&v.PurgesPerNode, raw, purgesPerNode.parse) },
	NodeDrainPolicy: func(v *Values, raw string) error { return assign(&v.DrainPolicy, raw, parseDrainPolicy) },
	ClusterAutoscaler: func(v *Values, raw string) error {
		return assign(&v.ClusterAutoscaler, raw, parseBool(Defaults().ClusterAutoscaler))
	},
	RebuildConcurrency: func(v *Values, raw string) error {
		return assign(&v.Engine.RebuildConcurrency, raw, rebuildConcurrency.parse)
	},
	UblkQueueDepth: func(v *Values, raw string) error {
		return assign(&v.Frontend.UblkQueueDepth, raw, ublkQueueDepth.parse)
	},
	UblkNumberOfQueue: func(v *Values, raw string) error {
		return assign(&v.Frontend.UblkNumberOfQueue, raw, ublkNumberOfQueue.parse)
	},
	IOQueues: func(v *Values, raw string) error { return assign(&v.Frontend.IOQueues, raw, ioQueues.parse) },
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
