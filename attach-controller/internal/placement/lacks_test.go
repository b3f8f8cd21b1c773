package placement

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

// What a disk lacks is known of exactly the disk of that UUID, unless it is reported as not ready.
func TestWhatADiskLacksIsKnownOnlyOfADiskThatMayBeReady(t *testing.T) {
	readiness := func(status v1beta2.ConditionStatus) func(*v1beta2.DiskSpec, *v1beta2.DiskStatus) {
		return func(_ *v1beta2.DiskSpec, s *v1beta2.DiskStatus) {
			s.Conditions = []v1beta2.Condition{{Type: v1beta2.DiskReady, Status: status}}
		}
	}
	unnamed := func(_ *v1beta2.DiskSpec, s *v1beta2.DiskStatus) { s.DiskUUID = "" }
	for sentence, c := range map[string]struct {
		node  Node
		uuid  string
		lacks int64
		known bool
	}{
		"it has enough":                  {node("a", disk("d")), "a-d", 0, true},
		"it was promised too much":       {node("a", disk("d"), promised("d", 95)), "a-d", 5 * gib, true},
		"what another disk was promised": {node("a", disk("d"), disk("e"), promised("e", 95)), "a-d", 0, true},
		"the other disk is asked about":  {node("a", disk("d"), disk("e"), promised("e", 95)), "a-e", 5 * gib, true},
		"rebuilds are to fill it": {node("a", disk("d"), func(n *Node) { n.Copied = map[string]int64{"a-d": 80 * gib} }), "a-d",
			5*gib + 1, true},
		"it is ready": {node("a", disk("d", readiness(v1beta2.ConditionTrue), sized(100, 20, 0))),
			"a-d", 5*gib + 1, true},
		"its readiness is unknown":               {node("a", disk("d", readiness(v1beta2.ConditionUnknown))), "a-d", 0, true},
		"it is not ready":                        {node("a", disk("d", readiness(v1beta2.ConditionFalse))), "a-d", 0, false},
		"the node does not have it":              {node("a", disk("d")), "a-e", 0, false},
		"another node has it":                    {node("b", disk("d")), "a-d", 0, false},
		"an unknown disk is none without a UUID": {node("a", disk("d", unnamed)), "", 0, false},
		"there is no disk at all":                {node("a"), "a-d", 0, false},
	} {
		t.Run(sentence, func(t *testing.T) {
			lacks, known := Lacks(asks(), c.node, c.uuid)
			require.Equal(t, c.known, known)
			require.Equal(t, c.lacks, lacks)
		})
	}
}

// Neither tags, affinity nor cordons matter to what a disk lacks, and a disk that lacks nothing takes the replica where they allow it.
func TestWhatADiskLacksIsApartFromAllOtherFilters(t *testing.T) {
	n := node("a", disk("d", tagged("hdd")), cordoned, promised("d", 91))
	lacks, known := Lacks(asks(func(r *Request) { r.DiskSelector = []string{"nvme"} }, taken("a", "d")), n, "a-d")
	require.True(t, known)
	require.Equal(t, gib, lacks)
	lacks, _ = Lacks(asks(func(r *Request) { r.Size -= lacks }), n, "a-d")
	require.Zero(t, lacks, "a request that is smaller by what was lacking fits")
}
