package instancemanager

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/im-monitor/internal/node"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/managerimage"
	"drover.dev/drover/shared/managerimage/scripts"
)

func ofImage(tag string) func(*World) {
	return func(w *World) { w.InstanceManager.Spec.Image = "longhornio/longhorn-instance-manager:" + tag }
}

func allSettings(w *World) {
	w.Settings.Pods.SPDK = managerimage.Options{CPUMask: "0x3", Cores: 2, MemoryMiB: 1024, InterruptMode: true, LargePool: 4096,
		SmallPool: 16384, Isolate: true}
}

// The pod of each release that was read starts with the scripts of that release.
func TestAPodStartsOnItsOwnImage(t *testing.T) {
	for _, image := range scripts.Images() {
		for name, change := range map[string]func(*World){"defaults": func(*World) {}, "all settings": allSettings} {
			w := world(v2, noPod, ofImage(image.Tag), isDefault, change)
			if w.image().Profile == managerimage.Refused {
				require.Equal(t, KeepPod, Decide(w).Pod, image.Tag)
				continue
			}
			started, err := image.Start(PodFor(w).Spec.Containers[0].Args)
			require.NoError(t, err, "%s with %s", image.Tag, name)
			require.True(t, started.SPDK)
			require.Equal(t, CreatePod, Decide(w).Pod, image.Tag)
		}
		started, err := image.Start(PodFor(world(ofImage(image.Tag))).Spec.Containers[0].Args)
		require.NoError(t, err, image.Tag)
		require.False(t, started.SPDK)
	}
}

// During an upgrade the old pod and the new one have the arguments of their own images.
func TestInAnUpgradeEachPodFollowsItsOwnImage(t *testing.T) {
	before := world(v2, ofImage("v1.12.0"), inUpgrade(v1beta2.UpgradeStateUpgradingInstanceManager))
	after := world(v2, inUpgrade(v1beta2.UpgradeStateUpgradingInstanceManager))
	require.Equal(t, "instance-manager", PodFor(before).Spec.Containers[0].Args[0])
	require.Equal(t, "start-spdk-tgt", PodFor(after).Spec.Containers[0].Args[0])
}

func TestAnOperatorDeclaresTheProfileOfAnImage(t *testing.T) {
	w := world(v2, func(w *World) {
		w.InstanceManager.Spec.Image = "private@sha256:00ff"
		w.Options.Profiles = map[string]managerimage.Profile{"private@sha256:00ff": managerimage.Wrapper}
	})
	require.Equal(t, "start-spdk-tgt", PodFor(w).Spec.Containers[0].Args[0])
	w.Options.Profiles = nil
	require.Equal(t, "instance-manager", PodFor(w).Spec.Containers[0].Args[0])
	require.True(t, outdated(w), "the pod was made by another profile")
}

func TestAnImageWithoutEngineFrontendsGetsNoV2Pod(t *testing.T) {
	w := world(v2, noPod, ofImage("v1.11.3"), isDefault)
	v := Decide(w)
	require.Equal(t, KeepPod, v.Pod)
	c := conditions.Get(v.Status.Conditions, v1beta2.InstanceManagerPodReady)
	require.Equal(t, v1beta2.ReasonPodRefused, c.Reason)
	require.Contains(t, c.Message, "need an image of Longhorn 1.12.0 or newer")
	require.Len(t, v.Events, 1)
	require.Equal(t, v1beta2.ReasonPodRefused, v.Events[0].Reason)
	require.Equal(t, corev1.EventTypeWarning, v.Events[0].Type)
	w.InstanceManager.Status.Conditions = v.Status.Conditions
	require.Empty(t, Decide(w).Events, "the event is not repeated")
	require.Equal(t, CreatePod, Decide(world(noPod, ofImage("v1.11.3"), isDefault)).Pod, "v1 is served by every image")
}

func TestNoPodIsMadeBesideAStorageNetwork(t *testing.T) {
	network := func(w *World) { w.Settings.Pods.StorageNetwork = "kube-system/storage" }
	for _, w := range []World{world(noPod, network), world(v2, noPod, network)} {
		v := Decide(w)
		require.Equal(t, KeepPod, v.Pod)
		c := conditions.Get(v.Status.Conditions, v1beta2.InstanceManagerPodReady)
		require.Equal(t, v1beta2.ReasonPodRefused, c.Reason)
		require.Contains(t, c.Message, "kube-system/storage")
	}
	require.Equal(t, KeepPod, Decide(world(network, asked, func(w *World) { w.Settings.PriorityClass = "high" })).Pod,
		"a pod that could not be made again stays")
}

func TestACordonedNodeGetsNoNewInstanceManager(t *testing.T) {
	cordoned := func(w *World) { w.Kubernetes.Cordoned = true }
	v := Decide(world(noPod, cordoned))
	require.Equal(t, KeepPod, v.Pod)
	c := conditions.Get(v.Status.Conditions, v1beta2.InstanceManagerPodReady)
	require.Equal(t, v1beta2.ReasonKubernetesNodeCordoned, c.Reason)
	require.Equal(t, KeepPod, Decide(world(cordoned)).Pod, "a pod that runs stays")
	drained := world(noPod, cordoned, func(w *World) { w.InstanceManager.Status.CurrentState = v1beta2.InstanceManagerStateError })
	require.Equal(t, CreatePod, Decide(drained).Pod, "volumes elsewhere may need the replicas of a drained node")
	upgraded := world(v2, noPod, cordoned, inUpgrade(v1beta2.UpgradeStateUpgradingInstanceManager))
	require.Equal(t, CreatePod, Decide(upgraded).Pod, "an upgrade that took the old pod brings the new one")

	w := world()
	roster := func(cordoned bool, u *Upgrade) int {
		return len(Roster("node-1", &node.Kubernetes{Ready: true, Cordoned: cordoned}, w.Node, w.Settings, u, nil))
	}
	require.Equal(t, 2, roster(false, nil))
	require.Zero(t, roster(true, nil))
	require.Equal(t, 1, roster(true, &Upgrade{Image: newImage}))
}

func TestSettingsWithoutAnOptionAreReported(t *testing.T) {
	synced := func(w World) *v1beta2.Condition {
		return conditions.Get(Decide(w).Status.Conditions, v1beta2.InstanceManagerSettingSynced)
	}
	c := synced(world(v2, ofImage("v1.12.0"), isDefault, allSettings))
	require.Equal(t, v1beta2.ReasonSettingsLeftOut, c.Reason)
	require.Equal(t, "Image longhornio/longhorn-instance-manager:v1.12.0 has no option for data-engine-iobuf-large-pool-size, "+
		"data-engine-iobuf-small-pool-size, data-engine-number-of-cpu-cores, data-engine-cpu-isolation-enabled: its pod runs without. "+
		"Longhorn 1.12.1 and newer have all options; for an image whose tag names no release, declare its profile with the flag "+
		"--v2-image-profiles.", c.Message)
	require.Equal(t, v1beta2.ReasonSettingsInForce, synced(world(v2, allSettings)).Reason)
	require.Equal(t, v1beta2.ReasonSettingsInForce, synced(world(v2, ofImage("v1.12.0"), isDefault)).Reason)
}

// isDefault makes the image the default one.
func isDefault(w *World) { w.Settings.Image = w.InstanceManager.Spec.Image }

func TestAPodThatWouldTakeItsDevicesWithItIsNotReplacedByAnUpgrade(t *testing.T) {
	upgrade := func(tag string) World {
		return world(inUpgrade(v1beta2.UpgradeStateUpgradingInstanceManager), isOld, func(w *World) {
			ofImage(tag)(w)
			w.Upgrade.OldName = w.InstanceManager.Name
			w.Pod = runningPod(*w)
			w.Inventory.Asked = true
		})
	}
	frontend := Frontend{Name: "vol-ef-0", State: v1beta2.InstanceStateRunning, ActivePath: "10.1.1.1:20001", Promoted: true,
		TargetNode: "node-2", Serves: true}
	with := func(w World) World {
		w.Frontends = []Frontend{frontend}
		w.Inventory.Processes.EngineFrontends = map[string]v1beta2.InstanceProcess{frontend.Name: {}}
		return w
	}
	require.Equal(t, DeletePod, Decide(with(upgrade("v1.12.0"))).Pod)
	for _, tag := range []string{"v1.11.3", "v1.12.0-rc1", "v1.13.0-dev-20260503"} {
		w := with(upgrade(tag))
		require.Equal(t, KeepPod, Decide(w).Pod, tag)
		require.Contains(t, inUse(w), "removes the block devices of node node-1: detach its volumes", tag)
		require.Contains(t, frontendRecords(w).Message, "removes the block devices of node node-1", tag)
		require.Equal(t, DeletePod, Decide(upgrade(tag)).Pod, "%s: there is no device", tag)
	}
}

func TestAnUpgradeToAnImageThatGetsNoPodTouchesNothing(t *testing.T) {
	w := world(inUpgrade(v1beta2.UpgradeStateUpgradingInstanceManager), isOld, asked)
	require.Equal(t, DeletePod, Decide(w).Pod)
	w.Upgrade.Image = "longhornio/longhorn-instance-manager:v1.11.3"
	require.Equal(t, KeepPod, Decide(w).Pod)
	require.Contains(t, inUse(w), "its successor would get no pod. Image longhornio/longhorn-instance-manager:v1.11.3 has no engine frontends")
}

func TestAPodStaysWhileItsNodeLacksTheHugePagesOfTheNextOne(t *testing.T) {
	more := func(offered int64) World {
		return with(world(v2, asked), func(w *World) {
			w.Settings.Pods.SPDK.MemoryMiB, w.Kubernetes.HugePagesMiB = 4096, offered
		})
	}
	require.Equal(t, DeletePod, Decide(more(4096)).Pod)
	kept := Decide(more(2048))
	require.Equal(t, KeepPod, kept.Pod)
	require.Contains(t, conditions.Get(kept.Status.Conditions, v1beta2.InstanceManagerSettingSynced).Message,
		"it stays, because the node offers 2048 MiB of huge pages and data-engine-memory-size asks for 4096 MiB")
	less := with(more(0), func(w *World) { w.Settings.Pods.SPDK.MemoryMiB = 1024 })
	require.Equal(t, DeletePod, Decide(less).Pod, "the present pod has more")
}

func TestTheProbeOfAV2PodAsksForItsSPDKProcess(t *testing.T) {
	command := func(w World) string {
		return strings.Join(PodFor(w).Spec.Containers[0].LivenessProbe.Exec.Command, " ")
	}
	require.Contains(t, command(world(v2)), "pgrep -f '^spdk_tgt'")
	require.NotContains(t, command(world()), "spdk_tgt")
}
