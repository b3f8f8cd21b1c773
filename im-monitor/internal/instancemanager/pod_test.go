package instancemanager

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
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
		{"pod-v2-direct.yaml", world(v2, old)},
		{"pod-v2-cores.yaml", world(v2, func(w *World) {
			w.Settings.Pods.SPDK.Cores, w.Settings.Pods.SPDK.Isolate, w.Settings.Pods.SPDK.InterruptMode = 2, true, true
			w.Settings.Pods.SPDK.LargePool, w.Settings.Pods.SPDK.SmallPool = 4096, 16384
			w.Settings.Pods.LogDirectory, w.Settings.Pods.ProbeTimeout = "/data/logs", 30
			w.Settings.Pods.PullPolicy = corev1.PullAlways
		})},
		{"pod-v2-no-huge-pages.yaml", world(v2, func(w *World) {
			w.Settings.Pods.SPDK.HugePages = false
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

func TestAnotherControlPathIsUsedEverywhere(t *testing.T) {
	w := world(v2, func(w *World) { w.Options.ControlPath = "/data/longhorn/" })
	c := PodFor(w).Spec.Containers[0]
	require.Contains(t, strings.Join(c.Args, " "), "--longhorn-control-path /data/longhorn ", "a path of the host")
	require.Contains(t, c.Env, corev1.EnvVar{Name: "LONGHORN_CONTROL_PATH", Value: "/data/longhorn"})
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
		"the least share there is": {world(func(w *World) { w.Settings.Pods.CPUPercent, w.Kubernetes.AllocatableMilliCPU = 1, 100 }), 1},
		"a fraction, rounded": {world(func(w *World) {
			w.Settings.Pods.CPUPercent, w.Kubernetes.AllocatableMilliCPU = 12.5, 3996
		}), 500},
		"the part of v2":             {world(v2, func(w *World) { w.Settings.Pods.CPUPercent, w.Settings.Pods.CPUPercentV2 = 12, 25 }), 1000},
		"as many CPUs as SPDK takes": {world(v2, func(w *World) { w.Settings.Pods.SPDK.Cores = 3 }), 3000},
		"whole CPUs": {world(v2, func(w *World) {
			w.Settings.Pods.SPDK.Cores, w.Settings.Pods.CPUPercentV2 = 1, 30
		}), 2000},
		"an image that takes none": {world(v2, old, func(w *World) { w.Settings.Pods.SPDK.Cores = 3 }), 480},
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
		"CPU percent":    func(w *World) { w.Settings.Pods.CPUPercent, w.Settings.Pods.CPUPercentV2 = 20, 20 },
		"probe":          func(w *World) { w.Settings.Pods.ProbeTimeout = 20 },
	} {
		for _, w := range []World{world(), world(v2), world(v2, old)} {
			change(&w)
			require.True(t, outdated(w), name)
		}
	}
	for name, change := range map[string]func(*World){
		"mask":           func(w *World) { w.Settings.Pods.SPDK.CPUMask = "0xf" },
		"own mask":       func(w *World) { w.InstanceManager.Spec.DataEngineSpec.V2.CPUMask = "0xf" },
		"memory":         func(w *World) { w.Settings.Pods.SPDK.MemoryMiB = 1024 },
		"huge pages":     func(w *World) { w.Settings.Pods.SPDK.HugePages = false },
		"interrupt mode": func(w *World) { w.Settings.Pods.SPDK.InterruptMode = true },
		"log directory":  func(w *World) { w.Settings.Pods.LogDirectory = "/data/logs" },
	} {
		w, direct, v1 := world(v2), world(v2, old), world()
		for _, w := range []*World{&w, &direct, &v1} {
			change(w)
		}
		require.True(t, outdated(w), name)
		require.True(t, outdated(direct), name)
		require.False(t, outdated(v1), "%s is for v2", name)
	}
	for name, change := range map[string]func(*World){
		"cores":         func(w *World) { w.Settings.Pods.SPDK.Cores = 2 },
		"large pool":    func(w *World) { w.Settings.Pods.SPDK.LargePool = 4096 },
		"small pool":    func(w *World) { w.Settings.Pods.SPDK.SmallPool = 16384 },
		"isolation":     func(w *World) { w.Settings.Pods.SPDK.Isolate = true },
		"own isolation": func(w *World) { w.InstanceManager.Spec.DataEngineSpec.V2.CPUIsolationEnabled = "true" },
	} {
		w, direct := world(v2), world(v2, old)
		change(&w)
		change(&direct)
		require.True(t, outdated(w), name)
		require.False(t, outdated(direct), "%s changes nothing about a pod whose image has no option for it", name)
	}
	for name, change := range map[string]func(*World){
		"another size of the machine": func(w *World) { w.Kubernetes.AllocatableMilliCPU = 8000 },
		"another default image":       func(w *World) { w.Settings.Image = oldImage },
		"no Node":                     noNode,
		"another pull policy":         func(w *World) { w.Settings.Pods.PullPolicy = corev1.PullAlways },
		"other log flags":             func(w *World) { w.Settings.Logging.SPDKFlags = "nvmf" },
	} {
		w := world()
		change(&w)
		require.False(t, outdated(w), "%s does not differ by a setting", name)
	}
}
