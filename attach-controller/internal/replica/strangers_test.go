package replica

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

// stranger makes the replica on the node one of a volume that had the name before.
func stranger(node string) change {
	return func(w *World) {
		r := w.the(node)
		r.OwnerReferences[0].UID = "before"
		kept := w.Replicas[:0:0]
		for _, one := range w.Replicas {
			if one != r {
				kept = append(kept, one)
			}
		}
		w.Replicas, w.Strangers = kept, append(w.Strangers, r)
	}
}

func TestAReplicaOfAnEarlierVolumeOfTheNameOnlyGoes(t *testing.T) {
	check(t, map[string]row{
		"it does not count as one of those that are wanted": {fresh(coming("a"), coming("b"), coming("c"), stranger("c")), "create:c", v1beta2.ReasonPlaced},
		"it stays as long as nobody deletes it":             {attached("a b c", wants(2), stranger("c"), failed("b", 0), down("b")), "", ""},
	})
	w := attached("a b c", wants(2), deleted("c", time.Hour), stranger("c"))
	require.Equal(t, "approve:c=VolumeDeleting", told(decide(w)))
	require.Equal(t, "refuse:b=NoHealthyCopy", told(decide(attached("b c", wants(1), down("b"), deleted("b", time.Hour), stranger("c")))), "it is no copy")
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
