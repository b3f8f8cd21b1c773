package setting

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/setting"
)

func TestValues(t *testing.T) {
	with := func(change func(*Values)) Values {
		v := Defaults()
		change(&v)
		return v
	}
	cases := []struct {
		name    string
		raw     map[string]string
		want    Values
		refused []string
	}{
		{"nothing set means v1 on, v2 off, no image", nil, Defaults(), nil},
		{"an empty value means the default", map[string]string{V1DataEngine: "", V2DataEngine: " "}, Defaults(), nil},
		{"engines are switched", map[string]string{V1DataEngine: "false", V2DataEngine: "true"},
			with(func(v *Values) { v.V1, v.V2 = false, true }), nil},
		{"an image is taken as it is", map[string]string{DefaultInstanceManagerImage: "host:5000/im@sha256:ab"},
			with(func(v *Values) { v.Image = "host:5000/im@sha256:ab" }), nil},
		{"an image with blanks is refused", map[string]string{DefaultInstanceManagerImage: "im v1"}, Defaults(),
			[]string{DefaultInstanceManagerImage}},
		{"only true and false are booleans", map[string]string{V2DataEngine: "yes"}, Defaults(), []string{V2DataEngine}},
		{"tolerations of all four forms", map[string]string{TaintToleration: "a=b:NoSchedule; c:NoExecute;d=e ; f"},
			with(func(v *Values) {
				v.Tolerations = []corev1.Toleration{
					{Key: "a", Operator: corev1.TolerationOpEqual, Value: "b", Effect: corev1.TaintEffectNoSchedule},
					{Key: "c", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute},
					{Key: "d", Operator: corev1.TolerationOpEqual, Value: "e"},
					{Key: "f", Operator: corev1.TolerationOpExists},
				}
			}), nil},
		{"an unknown effect is refused", map[string]string{TaintToleration: "a=b:Never"}, Defaults(), []string{TaintToleration}},
		{"a key that is none is refused", map[string]string{TaintToleration: "=b:NoSchedule"}, Defaults(), []string{TaintToleration}},
		{"a selector", map[string]string{NodeSelector: "disk: ssd; zone:a"},
			with(func(v *Values) { v.NodeSelector = map[string]string{"disk": "ssd", "zone": "a"} }), nil},
		{"a selector without value separator is refused", map[string]string{NodeSelector: "disk"}, Defaults(), []string{NodeSelector}},
		{"a pull secret", map[string]string{RegistrySecret: "registry"}, with(func(v *Values) { v.RegistrySecret = "registry" }), nil},
		{"a pull secret's name is checked", map[string]string{RegistrySecret: "a/b"}, Defaults(), []string{RegistrySecret}},
		{"a class name is checked", map[string]string{PriorityClass: "No Class"}, Defaults(), []string{PriorityClass}},
		{"what engines are started with, plainly or by data engine",
			map[string]string{EngineReplicaTimeout: "20", FileSyncTimeout: `{"v1":"40","v2":"50"}`, RebuildConcurrency: `{"v2":"3"}`},
			with(func(v *Values) { v.Engine = Engine{ReplicaTimeout: 20, FileSyncTimeout: 40, RebuildConcurrency: 1} }), nil},
		{"what frontends are started with", map[string]string{UblkQueueDepth: `{"v2":"64"}`, UblkNumberOfQueue: "2",
			IOQueues: `{"v1":"5","v2":"4"}`},
			with(func(v *Values) { v.Frontend = Frontend{UblkQueueDepth: 64, UblkNumberOfQueue: 2, IOQueues: 4} }), nil},
		{"with no rebuilds at a time an engine exits",
			map[string]string{RebuildConcurrency: "0", EngineReplicaTimeout: "31", FileSyncTimeout: "{"}, Defaults(),
			[]string{EngineReplicaTimeout, FileSyncTimeout, RebuildConcurrency}},
		{"nothing is purged while it is not known whether it may be", map[string]string{DisablePurge: "ture", CleanUpSystemSnapshots: "yes"},
			with(func(v *Values) { v.DisablePurge, v.CleanUpSystemSnapshots = true, false }), []string{CleanUpSystemSnapshots, DisablePurge}},
		{"a switch for each data engine counts for the one that it is about", map[string]string{DisablePurge: `{"v1":"true","v2":"false"}`,
			V2DataEngine: `{"v1":"false","v2":"true"}`}, with(func(v *Values) { v.DisablePurge, v.V2 = true, true }), nil},
		{"how much is copied at once, plainly or by data engine",
			map[string]string{BackupConcurrency: "4", RestoreConcurrency: `{"v1":"3","v2":"8"}`},
			with(func(v *Values) {
				v.Copying, v.CopyingV2 = Copying{Backup: 4, Restore: 3}, Copying{Backup: 4, Restore: 8}
			}), nil},
		{"with nothing copied at once no backup ends", map[string]string{BackupConcurrency: "0", RestoreConcurrency: "-1"}, Defaults(),
			[]string{BackupConcurrency, RestoreConcurrency}},
		{"there is no third data engine", map[string]string{RebuildConcurrency: `{"v3":"3"}`}, Defaults(), []string{RebuildConcurrency}},
		{"what a drain waits for", map[string]string{NodeDrainPolicy: "block-for-eviction"},
			with(func(v *Values) { v.DrainPolicy = setting.BlockForEviction }), nil},
		{"another policy of drains is refused", map[string]string{NodeDrainPolicy: "never"}, Defaults(), []string{NodeDrainPolicy}},
		{"one bad value does not keep the others out", map[string]string{V2DataEngine: "maybe", PriorityClass: "high"},
			with(func(v *Values) { v.PriorityClass = "high" }), []string{V2DataEngine}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, refused := read(setting.Remember(Catalogue), c.raw)
			require.Equal(t, c.want, got)
			require.Equal(t, c.refused, refused)
		})
	}
}

func TestABadValueKeepsTheLastGoodOne(t *testing.T) {
	memory := setting.Remember(Catalogue)
	_, refused := read(memory, map[string]string{V2DataEngine: "true", DefaultInstanceManagerImage: "im:1"})
	require.Empty(t, refused)
	now, refused := read(memory, map[string]string{V2DataEngine: "ture", DefaultInstanceManagerImage: "im:2"})
	require.Equal(t, []string{V2DataEngine}, refused)
	require.True(t, now.V2, "the last good value stays in force")
	require.Equal(t, "im:2", now.Image, "other settings follow")
	back, refused := read(memory, nil)
	require.Empty(t, refused)
	require.Equal(t, Defaults(), back, "a removed setting falls back to its default")
}

func TestTheTableOfObeyedSettingsNamesThese(t *testing.T) {
	require.Equal(t, setting.ObeyedBy(setting.ImMonitor), Catalogue.Names())
}

// read has the settings of these values read, and all others absent. It returns what is in force, and whose value was refused.
func read(memory *setting.Memory[Values], values map[string]string) (inForce Values, refused []string) {
	for _, name := range Catalogue.Names() {
		var value *string
		if text, ok := values[name]; ok {
			value = &text
		}
		if _, err := memory.Set(name, value); err != nil {
			refused = append(refused, name)
		}
	}
	return Merge(memory.Values(v1beta2.DataEngineV1), memory.Values(v1beta2.DataEngineV2)), refused
}

func TestAnItemThatIsNoTolerationIsRefusedWithItsForm(t *testing.T) {
	for item, text := range map[string]string{
		"a b:NoSchedule":    "whose key is not a taint key",
		"=b":                "whose key is not a taint key",
		"a=b c:NoSchedule":  "whose value is not a taint value",
		"a=-b":              "whose value is not a taint value",
		"a=b:noschedule":    "whose effect is none of",
		"a=b:NoSchedule:No": "whose effect is none of",
	} {
		got, err := parseToleration(item)
		require.ErrorContains(t, err, text, item)
		require.ErrorContains(t, err, item, "the message names the item")
		require.Zero(t, got, item)
	}
}
