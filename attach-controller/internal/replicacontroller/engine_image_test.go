package replicacontroller

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/status"
)

// v1 adds the v1 disk "v1-disk-of-<node>" to a node, and an instance manager of v1.
func (w *world) v1(name string) {
	w.t.Helper()
	n := &v1beta2.Node{ObjectMeta: w.meta(name)}
	w.spec(n, map[string]any{"disks": map[string]any{"v1-disk": map[string]any{"diskType": "filesystem", "allowScheduling": true,
		"path": "/var/lib/longhorn/"}}})
	w.status(n, map[string]any{"diskStatus": map[string]any{"v1-disk": map[string]any{
		"diskUUID": "v1-disk-of-" + name, "storageMaximum": 100 * gib, "storageAvailable": 100 * gib,
		"conditions": status.ConditionsField([]v1beta2.Condition{
			{Type: v1beta2.DiskSchedulable, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonSchedulable}}),
	}}})
	im := &v1beta2.InstanceManager{ObjectMeta: w.meta("im-v1-" + name)}
	im.Spec.NodeID, im.Spec.DataEngine = name, v1beta2.DataEngineV1
	w.create(im)
	w.status(im, map[string]any{"currentState": v1beta2.InstanceStateRunning})
}

// A v1 process does not start on a node without its engine image: a replica goes elsewhere, or waits until there is a node that has it.
func TestAReplicaGoesWhereItsEngineImageIs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, node := range []string{"node-1", "node-2", "node-3"} {
		w.v1(node)
	}
	const name = "longhornio/longhorn-engine:v1.12.0"
	image := &v1beta2.EngineImage{ObjectMeta: w.meta(v1beta2.EngineImageName(name)), Spec: v1beta2.EngineImageSpec{Image: name}}
	w.create(image)
	w.status(image, map[string]any{"nodeDeploymentMap": map[string]bool{"node-1": false, "node-2": false, "node-3": true}})
	w.start()
	w.volume(vol, 2, func(s *v1beta2.VolumeSpec) { s.DataEngine, s.Image = v1beta2.DataEngineV1, name })
	w.shows(vol, "node-3/new")
	c := w.scheduled(vol, v1beta2.ReasonAntiAffinity) // which node-3 came to
	require.Contains(t, c.Message, "2 lacks the engine image (node-1, node-2)")
	w.status(image, map[string]any{"nodeDeploymentMap": map[string]bool{"node-2": true}})
	w.shows(vol, "node-2/new node-3/new")
	w.scheduled(vol, v1beta2.ReasonPlaced)

	// What no EngineImage reports is not known to lack anything.
	w.volume("vol-2", 3, func(s *v1beta2.VolumeSpec) { s.DataEngine, s.Image = v1beta2.DataEngineV1, "another/image:1" })
	w.shows("vol-2", "node-1/new node-2/new node-3/new")
}
