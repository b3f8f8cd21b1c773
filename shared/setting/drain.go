package setting

import (
	"fmt"
	"slices"
	"strings"
)

// DrainPolicy is the value of node-drain-policy: what a drain of a node waits for, beside the engines and frontends that run there.
type DrainPolicy string

// The policies.
const (
	// BlockForEviction: each replica, until it is elsewhere. All replicas of a cordoned node leave it.
	BlockForEviction DrainPolicy = "block-for-eviction"
	// BlockForEvictionIfContainsLastReplica: each last replica, until there is another one. Those of a cordoned node leave it.
	BlockForEvictionIfContainsLastReplica DrainPolicy = "block-for-eviction-if-contains-last-replica"
	// BlockIfContainsLastReplica: each last replica, until there is another one.
	BlockIfContainsLastReplica DrainPolicy = "block-if-contains-last-replica"
	// AllowIfReplicaIsStopped: each last replica that runs.
	AllowIfReplicaIsStopped DrainPolicy = "allow-if-replica-is-stopped"
	// AlwaysAllow: nothing.
	AlwaysAllow DrainPolicy = "always-allow"
)

// Evicts reports whether replicas leave a cordoned node by themselves.
func (p DrainPolicy) Evicts() bool {
	return p == BlockForEviction || p == BlockForEvictionIfContainsLastReplica
}

// ParseDrainPolicy reads the value of node-drain-policy.
func ParseDrainPolicy(text string) (DrainPolicy, error) {
	known := []string{string(BlockForEviction), string(BlockForEvictionIfContainsLastReplica), string(BlockIfContainsLastReplica),
		string(AllowIfReplicaIsStopped), string(AlwaysAllow)}
	if !slices.Contains(known, text) {
		return "", fmt.Errorf("%q is none of %s", text, strings.Join(known, ", "))
	}
	return DrainPolicy(text), nil
}
