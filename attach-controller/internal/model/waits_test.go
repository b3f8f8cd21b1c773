package model

import (
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

// lasting lists the reasons that a settled world may have, each with its end.
var lasting = map[string]string{
	v1beta2.ReasonAttachedElsewhere:                  "its other user lets the volume go",
	v1beta2.ReasonAttachedWithIncompatibleParameters: "its other user lets the volume go",
	v1beta2.ReasonNodeCordoned:                       "a person uncordons the node",
	v1beta2.ReasonNodeNotReady:                       "the node returns",
	v1beta2.ReasonNodeUnknown:                        "the ticket names a node that exists",
	v1beta2.ReasonNoNode:                             "a node can take the work",
	v1beta2.ReasonVolumeFaulted:                      "a node with a replica returns, or a person chooses one",
	v1beta2.ReasonNoUsableReplica:                    "a node with a replica returns, or a person chooses one",
	v1beta2.ReasonTargetElsewhere:                    "a person clears spec.targetNodeID",
	v1beta2.ReasonDataNodeDown:                       "the node returns, or its user lets the volume go",
}

// rare are the seeds of worlds with reasons that few worlds have.
var rare = []uint64{23864, 76184}

// A settled world has no other reasons than these. A new reason needs an entry here that names its end, and a line in kubectl drover
// doctor.
func TestEveryWaitThatLastsIsListed(t *testing.T) {
	t.Parallel()
	seen, longest := map[string]int{}, 0
	seeds := slices.Clone(rare)
	for seed := range uint64(1000) {
		seeds = append(seeds, seed)
	}
	for _, seed := range seeds {
		outcome := Play(seed, false)
		longest = max(longest, outcome.Rounds)
		for _, reason := range outcome.Reasons {
			if !slices.Contains(passing, reason) {
				seen[reason]++
			}
		}
	}
	t.Logf("longest: %d rounds until nothing changed; waits that were left: %v", longest, seen)
	require.ElementsMatch(t, slices.Collect(maps.Keys(lasting)), slices.Collect(maps.Keys(seen)))
}
