package instancemanager

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"

	"drover.dev/drover/shared/api/v1beta2"
)

var update = flag.Bool("update", false, "write the golden files again")

func TestPodFor(t *testing.T) {
	everySetting := func(w *World) {
		w.Settings.Tolerations = []corev1.Toleration{{Key: "storage", Operator: corev1.TolerationOpExists,
			Effect: corev1.TaintEffectNoExecute}}
		w.Settings.PriorityClass, w.Settings.NodeSelector = "longhorn-critical", map[string]string{"disk": "ssd"}
		w.Options.PullSecret = "registry"
		w.Node.Spec.InstanceManagerCPURequest = 750
	}
	cases := []struct {
		golden string
		world  World
	}{
		{"pod-v1.yaml", world()},
		{"pod-v1-settings.yaml", world(everySetting)},
		{"pod-v2.yaml", world(v2)},
		{"pod-v2-no-huge-pages.yaml", world(v2, func(w *World) {
			w.Options.HugePages = false
			w.InstanceManager.Spec.DataEngineSpec.V2.CPUMask = "0x1F"
		})},
	}
	for _, c := range cases {
		t.Run(c.golden, func(t *testing.T) {
			got, err := yaml.Marshal(PodFor(c.world))
			require.NoError(t, err)
			path := filepath.Join("testdata", c.golden)
			if *update {
				require.NoError(t, os.WriteFile(path, got, 0o644))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, string(want), string(got), "run with -update where the change is wanted, and read the difference")
		})
	}
}

// The flag is for those who set it on purpose; the setting is what a cluster of Longhorn has.
func TestTheImageIsPulledWithTheSecretOfTheFlagElseOfTheSetting(t *testing.T) {
	w := world(func(w *World) { w.Settings.RegistrySecret = "of-setting" })
	require.Equal(t, []corev1.LocalObjectReference{{Name: "of-setting"}}, PodFor(w).Spec.ImagePullSecrets)
	w.Options.PullSecret = "of-flag"
	require.Equal(t, []corev1.LocalObjectReference{{Name: "of-flag"}}, PodFor(w).Spec.ImagePullSecrets)
}

func TestWithRequiredTLSAPodDoesNotStartWithoutItsSecret(t *testing.T) {
	optional := func(w World) bool {
		for _, v := range PodFor(w).Spec.Volumes {
			if v.Secret != nil {
				return *v.Secret.Optional
			}
		}
		t.Fatal("no secret")
		return false
	}
	require.True(t, optional(world()))
	require.False(t, optional(world(func(w *World) { w.Options.RequireTLS = true })))
}

func TestALongNodeNameMakesAPod(t *testing.T) {
	w := world(func(w *World) {
		w.InstanceManager.Spec.NodeID = "node-with-a-name-that-is-far-longer-than-the-63-characters-that-a-label-value-may-have.example"
	})
	require.LessOrEqual(t, len(PodFor(w).Labels[v1beta2.LabelNodeOfComponent]), 63)
}

func TestCores(t *testing.T) {
	for mask, want := range map[string]int{"0x1": 1, "0x3": 2, "F": 4, "0xff00": 8, "": 1, "junk": 1, "0x0": 1} {
		require.Equal(t, want, cores(mask), "mask %q", mask)
	}
}

func TestAnotherControlPathIsUsedEverywhere(t *testing.T) {
	w := world(v2, func(w *World) { w.Options.ControlPath = "/data/longhorn/" })
	c := PodFor(w).Spec.Containers[0]
	require.Contains(t, c.Args, "/host/data/longhorn/unix-domain-socket")
	behind := map[string]string{}
	for _, v := range PodFor(w).Spec.Volumes {
		if v.HostPath != nil {
			behind[v.Name] = v.HostPath.Path
		}
	}
	at := map[string]string{}
	for _, m := range c.VolumeMounts {
		at[behind[m.Name]] = m.MountPath
	}
	require.Equal(t, "/engine-binaries/", at["/data/longhorn/engine-binaries/"])
	require.Equal(t, "/host/data/longhorn/unix-domain-socket/", at["/data/longhorn/unix-domain-socket/"])
	require.Equal(t, "/metadata/", at["/var/lib/longhorn/metadata/"], "records are found where they were before a take-over")
}

func TestAPodRequestsTheCPUOfItsNodeElseAShareOfTheMachine(t *testing.T) {
	requested := func(w World) (milli int64, named bool) {
		cpu, named := PodFor(w).Spec.Containers[0].Resources.Requests[corev1.ResourceCPU]
		return cpu.MilliValue(), named
	}
	for name, c := range map[string]struct {
		world World
		want  int64
	}{
		"a share of the machine": {world(), 480},
		"what its Node names":    {world(func(w *World) { w.Node.Spec.InstanceManagerCPURequest = 1 }), 1},
		"no Node":                {world(noNode), 480},
		"no machine":             {world(gone), 0},
		"a machine that is unknown": {world(func(w *World) {
			w.Kubernetes.AllocatableMilliCPU = 0
		}), 0},
		"the least share there is": {world(func(w *World) { w.Options.AllocatableCPUPercent, w.Kubernetes.AllocatableMilliCPU = 1, 100 }), 1},
	} {
		milli, named := requested(c.world)
		require.Equal(t, c.want, milli, name)
		require.Equal(t, c.want > 0, named, "%s: a request of nothing is none", name)
	}
}

func TestEachSettingOfThePodMakesItOutdated(t *testing.T) {
	require.False(t, outdated(world()))
	for name, change := range map[string]func(*World){
		"tolerations":    func(w *World) { w.Settings.Tolerations = []corev1.Toleration{{Key: "storage"}} },
		"priority class": func(w *World) { w.Settings.PriorityClass = "high" },
		"node selector":  func(w *World) { w.Settings.NodeSelector = map[string]string{"disk": "ssd"} },
		"CPU request":    func(w *World) { w.Node.Spec.InstanceManagerCPURequest = 750 },
	} {
		w := world()
		change(&w)
		require.True(t, outdated(w), name)
	}
	for name, change := range map[string]func(*World){
		"another size of the machine": func(w *World) { w.Kubernetes.AllocatableMilliCPU = 8000 },
		"another default image":       func(w *World) { w.Settings.Image = oldImage },
		"no Node":                     noNode,
	} {
		w := world()
		change(&w)
		require.False(t, outdated(w), "%s does not differ by a setting", name)
	}
}
