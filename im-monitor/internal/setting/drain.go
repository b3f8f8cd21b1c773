package setting

import (
	"fmt"
	"slices"
	"strings"
)

// DrainPolicy is the value of node-drain-policy.
type DrainPolicy string

// The policies. No drain continues while an engine or a frontend runs on the node; what else it waits for:
const (
	// BlockForEviction: each replica, until it is elsewhere. No one asks for that eviction by itself: set evictionRequested of the Node.
	BlockForEviction DrainPolicy = "block-for-eviction"
	// BlockForEvictionIfContainsLastReplica: each last replica, until there is another one; as the default.
	BlockForEvictionIfContainsLastReplica DrainPolicy = "block-for-eviction-if-contains-last-replica"
	// BlockIfContainsLastReplica: each last replica, until there is another one.
	BlockIfContainsLastReplica DrainPolicy = "block-if-contains-last-replica"
	// AllowIfReplicaIsStopped: each last replica that runs.
	AllowIfReplicaIsStopped DrainPolicy = "allow-if-replica-is-stopped"
	// AlwaysAllow: nothing.
	AlwaysAllow DrainPolicy = "always-allow"
)

func parseDrainPolicy(raw string) (DrainPolicy, error) {
	known := []string{string(BlockForEviction), string(BlockForEvictionIfContainsLastReplica), string(BlockIfContainsLastReplica),
		string(AllowIfReplicaIsStopped), string(AlwaysAllow)}
	switch {
	case raw == "":
		return BlockIfContainsLastReplica, nil
	case slices.Contains(known, raw):
		return DrainPolicy(raw), nil
	}
	return "", fmt.Errorf("is %q: give one of %s", raw, strings.Join(known, ", "))
}
