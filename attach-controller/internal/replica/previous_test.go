package replica

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

// previous makes the replica on the node one of a previous volume of the same name.
func previous(node string) change {
	return func(w *World) {
		r := w.the(node)
		r.OwnerReferences[0].UID = "before"
		kept := w.Replicas[:0:0]
		for _, one := range w.Replicas {
			if one != r {
				kept = append(kept, one)
			}
		}
		w.Replicas, w.Previous = kept, append(w.Previous, r)
	}
}

func TestAReplicaOfAnEarlierVolumeOfTheNameOnlyGoes(t *testing.T) {
	check(t, map[string]row{
		"it does not count as one of those that are wanted": {fresh(coming("a"), coming("b"), coming("c"), previous("c")), "create:c",
			v1beta2.ReasonPlaced},
		"it stays until it is deleted": {attached("a b c", wants(2), previous("c"), failed("b", 0), down("b")), "",
			""},
	})
	w := attached("a b c", wants(2), deleted("c", time.Hour), previous("c"))
	require.Equal(t, "approve:c=VolumeDeleting", reported(decide(w)))
	require.Equal(t, "refuse:b=NoHealthyCopy", reported(decide(attached("b c", wants(1), down("b"), deleted("b", time.Hour),
		previous("c")))), "it is no copy")
}

// A volume that was attached once has data: when all that had it is gone, an empty replica does not take its place.
func TestAVolumeThatLostAllItsReplicasGetsNoEmptyOnes(t *testing.T) {
	was := volume(func(v *v1beta2.Volume) { v.Status.CurrentImage = "image" })
	check(t, map[string]row{
		"none is left":                  {fresh(was), "", ""},
		"one is left that has no data":  {fresh(coming("a"), was), "", ""},
		"a new volume gets all it asks": {fresh(), "create:a create:b create:c", v1beta2.ReasonPlaced},
	})
}
