package instancemanager

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

func TestAPodIsReadyOnlyWhereItReportsThat(t *testing.T) {
	require.True(t, PodReady(world().Pod))
	for name, change := range map[string]func(*corev1.Pod){
		"pending":                  func(p *corev1.Pod) { p.Status.Phase = corev1.PodPending },
		"without an address":       func(p *corev1.Pod) { p.Status.PodIP = "" },
		"not ready":                func(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionFalse },
		"of unknown readiness":     func(p *corev1.Pod) { p.Status.Conditions[0].Status = corev1.ConditionUnknown },
		"without the condition":    func(p *corev1.Pod) { p.Status.Conditions = nil },
		"with another one alone":   func(p *corev1.Pod) { p.Status.Conditions[0].Type = corev1.PodScheduled },
		"deleted while it is true": func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: now} },
	} {
		p := world().Pod
		change(p)
		require.False(t, PodReady(p), name)
	}
	require.False(t, PodReady(nil))
}

func TestAnUnreachableServerIsEvaluatedAgainWhenItsPatienceEndsAndThenRegularly(t *testing.T) {
	silent := func(since time.Duration) World {
		return world(func(w *World) { w.Inventory = Inventory{UnknownSince: now.Add(-since)} })
	}
	limit := patience(silent(0))
	require.Equal(t, limit, recheckIn(silent(0)))
	require.Equal(t, time.Second, recheckIn(silent(limit-time.Second)))
	require.Equal(t, DefaultOptions().UnreachableAfter, recheckIn(silent(limit)))
	require.Equal(t, DefaultOptions().UnreachableAfter, recheckIn(silent(time.Hour)))
	require.Zero(t, recheckIn(world()), "it answers")
	require.Zero(t, recheckIn(world(func(w *World) { w.Inventory = Inventory{} })), "it is not known since when")
	pending := world(pendingPod, func(w *World) { w.Inventory = Inventory{UnknownSince: now.Add(-time.Hour)} })
	require.Zero(t, recheckIn(pending), "a pod that is not ready answers no one")
}

func TestRecordsOutliveThePodOnlyInAWritableDirectoryOfTheHost(t *testing.T) {
	require.True(t, world(v2).keepsRecords())
	require.True(t, world(v2, noPod).keepsRecords(), "there is nothing to keep")
	for name, change := range map[string]func(*corev1.Pod){
		"no volume has the name of the mount": func(p *corev1.Pod) { p.Spec.Volumes = nil },
		"the volume is none of the host": func(p *corev1.Pod) {
			for i := range p.Spec.Volumes {
				p.Spec.Volumes[i].VolumeSource = corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
			}
		},
		"its volume alone is none of the host": func(p *corev1.Pod) {
			for i := range p.Spec.Volumes {
				if p.Spec.Volumes[i].Name == "metadata" {
					p.Spec.Volumes[i].VolumeSource = corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}
				}
			}
		},
		"nothing is mounted": func(p *corev1.Pod) { p.Spec.Containers[0].VolumeMounts = nil },
		"it cannot be written": func(p *corev1.Pod) {
			for i := range p.Spec.Containers[0].VolumeMounts {
				p.Spec.Containers[0].VolumeMounts[i].ReadOnly = true
			}
		},
	} {
		w := world(v2)
		change(w.Pod)
		require.False(t, w.keepsRecords(), name)
		c := frontendRecords(w)
		require.Equal(t, v1beta2.ReasonNotOnHost, c.Reason, name)
		require.Contains(t, c.Message, "Detach the volumes that use node node-1 once", name)
	}
	require.Nil(t, frontendRecords(world()), "v1 has no frontends of their own")
	require.True(t, HoldsRecords(corev1.VolumeMount{MountPath: "/metadata/"}))
	require.False(t, HoldsRecords(corev1.VolumeMount{MountPath: "/metadata/x"}))
}

func TestAPodThatWasMadeWithoutTheSecretOfItsImageIsMadeAgainOnlyIfItNeverRan(t *testing.T) {
	named := func(w *World) { w.Settings.RegistrySecret = "registry" }
	late := world(withoutImage, unheard)
	require.False(t, cannotPull(late), "no secret is named")
	named(&late)
	require.True(t, cannotPull(late))
	require.True(t, outdated(late))
	late.Pod.Spec.ImagePullSecrets = []corev1.LocalObjectReference{{Name: "another"}, {Name: "registry"}}
	require.False(t, cannotPull(late), "it has it, among others")
	runs := world()
	named(&runs)
	require.False(t, cannotPull(runs), "its image was pulled")
	require.False(t, outdated(runs))
}

func TestMapChangesAreEmptyOnlyWhereNoMapHasAny(t *testing.T) {
	entry := map[string]*v1beta2.InstanceProcess{"vol-1": nil}
	require.True(t, MapChanges{}.Empty())
	for _, m := range []MapChanges{{Engines: entry}, {EngineFrontends: entry}, {Replicas: entry}} {
		require.False(t, m.Empty(), "a removal is a change")
	}
}

func TestTheEngineOfAnInstanceManagerThatNamesNoneIsV1(t *testing.T) {
	im := manager(newImage, v1beta2.DataEngineV1)
	im.Spec.DataEngine = ""
	require.Equal(t, v1beta2.DataEngineV1, engineOf(im))
	require.Equal(t, v1beta2.DataEngineV2, engineOf(manager(newImage, v1beta2.DataEngineV2)))
}

func TestWhereFrontendsLeadIsReadOnlyForAV2PodThatIsReplacedAndServesNothing(t *testing.T) {
	replaced := world(inUpgrade(v1beta2.UpgradeStateUpgradingInstanceManager), isOld)
	for name, c := range map[string]struct {
		w    World
		want bool
	}{
		"in no upgrade": {world(v2), false},
		"no pod":        {with(replaced, func(w *World) { w.Pod = nil }), false},
		"no list":       {with(replaced, func(w *World) { w.Inventory.Known = false }), false},
		"an engine runs": {with(replaced, func(w *World) {
			w.Inventory.Processes.Engines = map[string]v1beta2.InstanceProcess{"vol-e-0": {}}
		}), false},
		"it is replaced": {replaced, true},
	} {
		require.Equal(t, c.want, c.w.Replaceable(), name)
	}
}

func with(w World, change func(*World)) World { change(&w); return w }

// A node's huge pages and disks serve one SPDK process.
func TestOfTwoV2InstanceManagersOfOneRankTheNameDecidesWhichStarts(t *testing.T) {
	beside := func(name, image string) World {
		return world(v2, noPod, func(w *World) { w.Siblings = []Sibling{{Name: name, Image: image}} })
	}
	first, last := "a", "z"
	require.True(t, blocked(beside(first, newImage)))
	require.False(t, blocked(beside(last, newImage)))
	require.True(t, blocked(beside(last, oldImage)), "one that is to be retired ends sooner, so it starts first")
	retired := beside(first, newImage)
	retired.InstanceManager.Spec.Image = oldImage
	require.False(t, blocked(retired))
	retired.Siblings[0].HasPod = true
	require.True(t, blocked(retired), "a pod that exists comes before all")
	require.False(t, blocked(world(noPod, func(w *World) { w.Siblings = []Sibling{{Name: first, Image: newImage, HasPod: true}} })),
		"v1 processes share a node")
}
