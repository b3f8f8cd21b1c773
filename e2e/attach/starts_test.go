//go:build !fast

package attach

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/e2e/scenarios"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// A volume that starts from a backing image reads that image's blocks where no block was written, on every node and after every rebuild.
// [A2]
func TestAV1VolumeReadsItsBackingImage(t *testing.T) {
	ctx, w := fixture(t)
	require.NoError(t, w.Order(ctx, "backed", v1beta2.DataEngineV1, 2, func(s *v1beta2.VolumeSpec) { s.BackingImage = "bi-1" }))
	require.NoError(t, w.Ticket(ctx, "backed", "by-hand", v1beta2.AttacherLonghornAPI, scenarios.Near, nil))
	require.NoError(t, w.Wait(ctx, "a replica that reports what it lacks", patience,
		replicaReason(w, "backed", v1beta2.WaitForBackingImage, v1beta2.ReasonGetBackingImageFailed)))
	require.NoError(t, w.BackingImage(ctx, "bi-1", map[string]string{"0": "boot sector", "7": "kernel"}))
	t.Cleanup(func() {
		_ = w.Admin.Delete(context.Background(), &v1beta2.BackingImage{ObjectMeta: metav1.ObjectMeta{Name: "bi-1", Namespace: w.Namespace}})
	})
	require.NoError(t, w.WaitAttached(ctx, "backed", scenarios.Near, patience))
	require.NoError(t, w.WaitRobust(ctx, "backed", v1beta2.VolumeRobustnessHealthy, patience))
	require.NoError(t, w.Keeps(ctx, "backed", 7, "kernel"))
	require.NoError(t, w.Write(ctx, "backed", 0, "mine"))
	require.NoError(t, w.SaveSnapshot(ctx, "backed", "snap-1"))
	replicas, err := w.ReplicasOf(ctx, "backed")
	require.NoError(t, err)
	require.NoError(t, w.HoldCopies(ctx, "backed"))
	require.NoError(t, w.KillInstance(ctx, replicas[0].Spec.NodeID, replicas[0].Name))
	require.NoError(t, w.WaitRobust(ctx, "backed", v1beta2.VolumeRobustnessDegraded, patience))
	require.NoError(t, w.ReleaseCopies(ctx, "backed", copying))
	require.NoError(t, w.WaitRobust(ctx, "backed", v1beta2.VolumeRobustnessHealthy, patience))
	require.NoError(t, w.Keeps(ctx, "backed", 7, "kernel"))
	require.NoError(t, w.LetGo(ctx, "backed", patience))
	require.NoError(t, w.Attach(ctx, "backed", scenarios.Far, patience))
	require.NoError(t, w.Keeps(ctx, "backed", 7, "kernel"))
	require.NoError(t, w.Keeps(ctx, "backed", 0, "mine"))
	var image v1beta2.BackingImage
	require.NoError(t, w.Get(ctx, "bi-1", &image))
	require.NotEmpty(t, image.Spec.DiskFileSpecMap, "the image names the disk of a replica that waited")
	require.NoError(t, w.LetGo(ctx, "backed", patience))
}

// The replicas of an encrypted volume are 16 MiB larger than what its user gets, and stay so. [A3]
func TestAnEncryptedV1VolumeKeepsItsContentAndItsSize(t *testing.T) {
	ctx, w := fixture(t)
	require.NoError(t, w.Order(ctx, "secret", v1beta2.DataEngineV1, 2, func(s *v1beta2.VolumeSpec) { s.Encrypted = true }))
	require.NoError(t, w.Attach(ctx, "secret", scenarios.Near, patience))
	require.NoError(t, w.Write(ctx, "secret", 1, "first"))
	require.NoError(t, w.LetGo(ctx, "secret", patience))
	require.NoError(t, w.MadeWith(ctx, "secret", world.VolumeSize+16<<20)) // as Longhorn makes them
	require.NoError(t, w.Attach(ctx, "secret", scenarios.Far, patience))
	require.NoError(t, w.WaitRobust(ctx, "secret", v1beta2.VolumeRobustnessHealthy, patience))
	require.NoError(t, w.Keeps(ctx, "secret", 1, "first"))
	replicas, err := w.ReplicasOf(ctx, "secret")
	require.NoError(t, err)
	require.NoError(t, w.HoldCopies(ctx, "secret"))
	require.NoError(t, w.KillInstance(ctx, replicas[0].Spec.NodeID, replicas[0].Name))
	require.NoError(t, w.WaitRobust(ctx, "secret", v1beta2.VolumeRobustnessDegraded, patience))
	require.NoError(t, w.Write(ctx, "secret", 2, "second"))
	require.NoError(t, w.ReleaseCopies(ctx, "secret", copying))
	require.NoError(t, w.WaitRobust(ctx, "secret", v1beta2.VolumeRobustnessHealthy, patience))
	require.NoError(t, w.Keeps(ctx, "secret", 2, "second"))
	var engines v1beta2.EngineList
	require.NoError(t, w.Admin.List(ctx, &engines))
	for _, e := range engines.Items {
		if e.Spec.VolumeName == "secret" {
			require.EqualValues(t, world.VolumeSize, e.Status.CurrentSize, "the user's size")
		}
	}
	require.NoError(t, w.LetGo(ctx, "secret", patience))
}

// Each image gets the flags that it understands; an unknown image starts nothing, and the replica reports why. [A3]
func TestAV1VolumeStartsAsItsImageCanTakeIt(t *testing.T) {
	ctx, w := fixture(t)
	for _, cli := range []int{3, 6, 8, 9} {
		image, name := fmt.Sprintf("longhornio/longhorn-engine:cli-%d", cli), fmt.Sprintf("cli-%d", cli)
		require.NoError(t, w.Image(ctx, image, cli))
		require.NoError(t, w.Order(ctx, name, v1beta2.DataEngineV1, 1, func(s *v1beta2.VolumeSpec) { s.Image = image }))
		require.NoError(t, w.Attach(ctx, name, scenarios.Near, patience), "CLI API version %d", cli)
		require.NoError(t, w.Write(ctx, name, 1, "kept"))
		require.NoError(t, w.LetGo(ctx, name, patience))
		require.NoError(t, w.Attach(ctx, name, scenarios.Far, patience))
		require.NoError(t, w.Keeps(ctx, name, 1, "kept"))
		require.NoError(t, w.LetGo(ctx, name, patience))
	}
	require.NoError(t, w.Order(ctx, "unknown", v1beta2.DataEngineV1, 1, func(s *v1beta2.VolumeSpec) { s.Image = "unknown/image:tag" }))
	require.NoError(t, w.Ticket(ctx, "unknown", "by-hand", v1beta2.AttacherLonghornAPI, scenarios.Near, nil))
	message := replicaReason(w, "unknown", v1beta2.InstanceCreation, v1beta2.ReasonEngineImageUnknown)
	require.NoError(t, w.Wait(ctx, "a replica that reports why it does not start", patience, message))
	require.NoError(t, w.Image(ctx, "unknown/image:tag", 12))
	require.NoError(t, w.WaitAttached(ctx, "unknown", scenarios.Near, patience))
	require.NoError(t, w.LetGo(ctx, "unknown", patience))
}

// A node that cannot have an image is named with its pod by the EngineImage, and by the volume whose replicas find no place.
func TestAV1VolumeWaitsForAnImageThatNoNodeCanPull(t *testing.T) {
	ctx, w := fixture(t)
	const image = "longhornio/longhorn-engine:missing"
	object := &v1beta2.EngineImage{ObjectMeta: metav1.ObjectMeta{Name: v1beta2.EngineImageName(image), Namespace: w.Namespace},
		Spec: v1beta2.EngineImageSpec{Image: image}}
	require.NoError(t, w.Admin.Create(ctx, object))
	require.NoError(t, w.Wait(ctx, "the node and the pod to be named", patience, func(ctx context.Context) (string, error) {
		err := w.Get(ctx, object.Name, object)
		ready := conditions.Get(object.Status.Conditions, v1beta2.EngineImageReady)
		if err != nil || ready == nil {
			return "it has no condition", err
		}
		if !strings.Contains(ready.Message, "node "+scenarios.Near+" (pod engine-image-"+object.Name) ||
			!strings.Contains(ready.Message, "ErrImagePull") {
			return ready.Message, nil
		}
		return "", nil
	}))
	require.NoError(t, w.Order(ctx, "unpulled", v1beta2.DataEngineV1, 1, func(s *v1beta2.VolumeSpec) { s.Image = image }))
	require.NoError(t, w.Ticket(ctx, "unpulled", "by-hand", v1beta2.AttacherLonghornAPI, scenarios.Near, nil))
	require.NoError(t, w.WaitVolume(ctx, "unpulled", "to report which nodes lack the image", patience, func(v *v1beta2.Volume) string {
		c := conditions.Get(v.Status.Conditions, v1beta2.VolumeScheduled)
		if c == nil || c.Reason != v1beta2.ReasonNoUsableNode || !strings.Contains(c.Message, "3 lacks the engine image") {
			return world.FormatConditions(v.Status.Conditions)
		}
		return ""
	}))
}

// A v1 server takes every name with "-e-" in it for an engine's, also those of the replicas of such a volume.
func TestAV1VolumeWhoseNameLooksLikeThatOfAnEngineAttaches(t *testing.T) {
	ctx, w := fixture(t)
	const name = "shop-e-commerce"
	require.NoError(t, w.Order(ctx, name, v1beta2.DataEngineV1, 2, nil))
	require.NoError(t, w.Attach(ctx, name, scenarios.Near, patience))
	replicas, err := w.ReplicasOf(ctx, name)
	require.NoError(t, err)
	require.Len(t, replicas, 2)
	listed := func(ctx context.Context) (string, error) {
		for i := range replicas {
			r := &replicas[i]
			var im v1beta2.InstanceManager
			if err := w.Get(ctx, w.InstanceManager(r.Spec.NodeID, v1beta2.DataEngineV1), &im); err != nil {
				return "", err
			}
			if entry := im.Status.InstanceReplicas[r.Name]; entry.Status.State != v1beta2.InstanceStateRunning {
				return fmt.Sprintf("%s has %s in state %q", im.Name, r.Name, entry.Status.State), nil
			}
			if _, is := im.Status.InstanceEngines[r.Name]; is {
				return fmt.Sprintf("%s has %s as an engine", im.Name, r.Name), nil
			}
		}
		return "", nil
	}
	require.NoError(t, w.Wait(ctx, "the replicas in the status of their instance managers", patience, listed))
	require.NoError(t, w.LetGo(ctx, name, patience))
}

// replicaReason waits for a replica whose condition has this reason and a message.
func replicaReason(w *world.World, volume, kind, reason string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		replicas, err := w.ReplicasOf(ctx, volume)
		for i := range replicas {
			if c := conditions.Get(replicas[i].Status.Conditions, kind); c != nil && c.Reason == reason && c.Message != "" {
				return "", err
			}
		}
		return fmt.Sprintf("none of %d replicas has condition %s with reason %s", len(replicas), kind, reason), err
	}
}
