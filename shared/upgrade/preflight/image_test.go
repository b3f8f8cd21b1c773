package preflight

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/managerimage"
	"drover.dev/drover/shared/upgrade/cluster"
)

func TestTheNewImageAndTheOldOneFitALiveUpgrade(t *testing.T) {
	from := func(old, next string) func(*World) {
		return func(w *World) {
			w.Cluster.Nodes["a"].Managers[0].Spec.Image, w.Target = "im:"+old, "im:"+next
		}
	}
	detached := func(w *World) { w.Cluster.Volumes = map[string]cluster.Volume{} }
	declared := func(w *World) {
		w.Cluster.Profiles = map[string]managerimage.Profile{"im:v1.11.3": managerimage.Direct, "im:own": managerimage.Refused}
	}
	hold(t, UnfitImage, "", map[string]row{
		"a newer release":                 {changes(from("v1.12.0", "v1.12.1")), ""},
		"images of unknown release":       {changes(from("old", "new")), ""},
		"another build of one release":    {changes(from("v1.12.1", "v1.12.1-2.1")), ""},
		"the new one serves no v2":        {changes(from("v1.12.0", "v1.11.3")), "image im:v1.11.3 has no engine frontends"},
		"a person declares that it does":  {changes(from("own1", "v1.11.3"), declared), ""},
		"a person declares that it fails": {changes(from("v1.12.0", "own"), declared), "image im:own is declared as refused for v2"},
		"the new one is older":            {changes(from("v1.12.1", "v1.12.0")), "im:v1.12.0 is older than im:v1.12.1, which the node runs"},
		"the old one takes devices along": {changes(from("v1.11.3", "v1.12.1")),
			"the end of a pod of image im:v1.11.3 removes the block devices of the node; detach the volumes"},
		"there is no device to take": {changes(from("v1.11.3", "v1.12.1"), detached), ""},
		"a build that takes devices": {changes(from("v1.13.0-dev-20260503", "v1.13.0")), "removes the block devices"},
	})
	require.Empty(t, unfitImage(World{Node: "z"}), "a node that does not exist has no image")
}
