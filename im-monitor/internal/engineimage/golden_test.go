package engineimage

import (
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/yaml"
)

var update = flag.Bool("update", false, "write the golden files again")

func TestTheObjectsOfAnImage(t *testing.T) {
	everySetting := func(w *World) {
		w.Settings.Tolerations = []corev1.Toleration{{Key: "storage", Operator: corev1.TolerationOpExists,
			Effect: corev1.TaintEffectNoExecute}}
		w.Settings.PriorityClass, w.Settings.NodeSelector = "longhorn-critical", map[string]string{"disk": "ssd"}
		w.Settings.RegistrySecret, w.Settings.Pods.PullPolicy = "registry", corev1.PullAlways
		w.Settings.EngineProbe.Timeout, w.Settings.EngineProbe.Period, w.Settings.EngineProbe.Failures = 10, 20, 6
		w.Options.ControlPath = "/data/longhorn"
	}
	for golden, object := range map[string]any{
		"daemonset.yaml":            DaemonSetFor(world()),
		"daemonset-settings.yaml":   DaemonSetFor(world(everySetting)),
		"version-pod.yaml":          VersionPodFor(world()),
		"version-pod-settings.yaml": VersionPodFor(world(everySetting)),
	} {
		t.Run(golden, func(t *testing.T) {
			got, err := yaml.Marshal(object)
			require.NoError(t, err)
			path := filepath.Join("testdata", golden)
			if *update {
				require.NoError(t, os.WriteFile(path, got, 0o644))
			}
			want, err := os.ReadFile(path)
			require.NoError(t, err)
			require.Equal(t, string(want), string(got), "run with -update where the change is wanted, and read the difference")
		})
	}
}
