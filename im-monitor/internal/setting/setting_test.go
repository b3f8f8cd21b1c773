package setting

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/managerimage"
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
		{"tolerations of all forms", map[string]string{TaintToleration: "a=b:NoSchedule; c:NoExecute;d=e: ; f:;:NoSchedule;:;c:NoExecute"},
			with(func(v *Values) {
				v.Tolerations = []corev1.Toleration{
					{Key: "a", Operator: corev1.TolerationOpEqual, Value: "b", Effect: corev1.TaintEffectNoSchedule},
					{Key: "c", Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute},
					{Key: "d", Operator: corev1.TolerationOpEqual, Value: "e"},
					{Key: "f", Operator: corev1.TolerationOpExists},
					{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoSchedule},
					{Operator: corev1.TolerationOpExists},
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
		{"what pods are made with", map[string]string{CPUMask: `{"v2":"0-1,4"}`, CPUCores: "2", MemorySize: `{"v2":"1024"}`,
			HugePages: `{"v2":"false"}`, InterruptMode: `{"v2":"true"}`, LargePool: "4096", SmallPool: "16384", CPUIsolation: "true",
			GuaranteedCPU: `{"v1":"12.5","v2":"20"}`, LogPath: "/data/logs", ImagePullPolicy: "always", ProbeTimeout: "30",
			StorageNetwork: "kube-system/storage"},
			with(func(v *Values) {
				v.Pods = Pods{SPDK: managerimage.Options{CPUMask: "0x13", Cores: 2, MemoryMiB: 1024, InterruptMode: true, LargePool: 4096,
					SmallPool: 16384, Isolate: true}, CPUPercent: 12.5, CPUPercentV2: 20, LogDirectory: "/data/logs",
					PullPolicy: corev1.PullAlways, ProbeTimeout: 30, StorageNetwork: "kube-system/storage"}
			}), nil},
		{"one request of CPU for both data engines", map[string]string{GuaranteedCPU: "0"},
			with(func(v *Values) { v.Pods.CPUPercent, v.Pods.CPUPercentV2 = 0, 0 }), nil},
		{"what instance managers log", map[string]string{LogLevel: "Debug", SPDKLogLevel: `{"v2":"Info"}`, SPDKLogFlags: `{"v2":"NVMF, bdev"}`},
			with(func(v *Values) { v.Logging = Logging{"Debug", "Info", "nvmf,bdev"} }), nil},
		{"all parts of SPDK log", map[string]string{SPDKLogFlags: "bdev,ALL"},
			with(func(v *Values) { v.Logging.SPDKFlags = "all" }), nil},
		{"a server that compares names knows no wildcards", map[string]string{SPDKLogFlags: "nvmf*"}, Defaults(), []string{SPDKLogFlags}},
		{"what no pod can be made with", map[string]string{CPUMask: "0x0", CPUCores: "-1", LargePool: "1023", SmallPool: "8191",
			GuaranteedCPU: "41", LogPath: "logs", ImagePullPolicy: "Always", ProbeTimeout: "0", StorageNetwork: "storage",
			SPDKLogFlags: "/log/spdk_tgt.log", SPDKLogLevel: "Trace", LogLevel: "info"}, Defaults(),
			[]string{SPDKLogFlags, SPDKLogLevel, CPUMask, LargePool, SmallPool, CPUCores, GuaranteedCPU, ProbeTimeout, LogLevel, LogPath,
				StorageNetwork, ImagePullPolicy}},
		{"one bad value does not keep the others out", map[string]string{V2DataEngine: "maybe", PriorityClass: "high"},
			with(func(v *Values) { v.PriorityClass = "high" }), []string{V2DataEngine}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, refused := read(setting.Remember(Catalogue), c.raw)
			require.Equal(t, c.want, got)
			require.ElementsMatch(t, c.refused, refused)
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
		"=b:":               "whose key is not a taint key",
		"a=b":               "without a colon",
		"a":                 "without a colon",
		"a=b c:NoSchedule":  "whose value is not a taint value",
		"a=-b:":             "whose value is not a taint value",
		"a=b:noschedule":    "whose effect is none of",
		"a=b:NoSchedule:No": "whose effect is none of",
	} {
		got, err := parseToleration(item)
		require.ErrorContains(t, err, text, item)
		require.ErrorContains(t, err, item, "the message names the item")
		require.Zero(t, got, item)
	}
}

func TestAnItemThatIsNoSelectorIsRefusedWithItsForm(t *testing.T) {
	for _, item := range []string{"disk", "a b:ssd", ":ssd", "disk:a b", "disk:-ssd", "disk:ssd:fast", "disk=ssd", "/disk:ssd"} {
		got, err := parseSelector("zone:a; " + item)
		require.EqualError(t, err, `the value has item "`+item+`": give label:value`)
		require.Nil(t, got, "an item that is refused takes the others with it: %s", item)
	}
}

// Blanks and empty items mean nothing; a value may be empty, a key may not; of one key the last value counts.
func TestWhatASelectorHolds(t *testing.T) {
	for raw, want := range map[string]map[string]string{
		"":                            nil,
		" ; ;":                        nil,
		"disk:":                       {"disk": ""},
		" disk : ssd ;; zone:a;":      {"disk": "ssd", "zone": "a"},
		"disk:ssd;disk:hdd":           {"disk": "hdd"},
		"node.longhorn.io/disk:ssd_1": {"node.longhorn.io/disk": "ssd_1"},
	} {
		got, err := parseSelector(raw)
		require.NoError(t, err, raw)
		require.Equal(t, want, got, raw)
	}
	tolerations, err := parseTolerations(" ;; ")
	require.NoError(t, err)
	require.Empty(t, tolerations, "an empty item tolerates nothing; without a key it would tolerate every taint")
	tolerations, err = parseTolerations("a=:NoExecute")
	require.NoError(t, err)
	require.Equal(t, []corev1.Toleration{{Key: "a", Operator: corev1.TolerationOpEqual, Effect: corev1.TaintEffectNoExecute}}, tolerations)
}

// Each number at its limits, and one beyond each: what is refused leaves the default in force.
func TestNumbersAreReadUpToTheirLimits(t *testing.T) {
	for name, c := range map[string]struct {
		least, most int
		field       func(Values) int
	}{
		EngineReplicaTimeout: {8, 30, func(v Values) int { return v.Engine.ReplicaTimeout }},
		FileSyncTimeout:      {5, 120, func(v Values) int { return v.Engine.FileSyncTimeout }},
		RebuildConcurrency:   {1, 5, func(v Values) int { return v.Engine.RebuildConcurrency }},
		UblkQueueDepth:       {1, 4096, func(v Values) int { return v.Frontend.UblkQueueDepth }},
		UblkNumberOfQueue:    {1, 128, func(v Values) int { return v.Frontend.UblkNumberOfQueue }},
		IOQueues:             {0, 128, func(v Values) int { return v.Frontend.IOQueues }},
		MinimalAvailable:     {0, 100, func(v Values) int { return v.MinimalAvailable }},
		OverProvisioning:     {0, setting.MostOverProvisioning, func(v Values) int { return v.OverProvisioning }},
		PurgesPerNode:        {0, setting.MostPurgesPerNode, func(v Values) int { return v.PurgesPerNode }},
		BackupConcurrency:    {1, setting.MostCopies, func(v Values) int { return v.CopyingV2.Backup }},
		RestoreConcurrency:   {1, setting.MostCopies, func(v Values) int { return v.Copying.Restore }},
	} {
		t.Run(name, func(t *testing.T) {
			for _, n := range []int{c.least, c.most} {
				got, refused := read(setting.Remember(Catalogue), map[string]string{name: strconv.Itoa(n)})
				require.Empty(t, refused)
				require.Equal(t, n, c.field(got))
			}
			for _, n := range []int{c.least - 1, c.most + 1} {
				got, refused := read(setting.Remember(Catalogue), map[string]string{name: strconv.Itoa(n)})
				require.Equal(t, []string{name}, refused)
				require.Equal(t, Defaults(), got)
			}
		})
	}
}

func TestANameThatIsRefusedIsCalledWhatItIs(t *testing.T) {
	require.ErrorContains(t, Catalogue.Check(PriorityClass, "No Class"), "a PriorityClass")
	require.ErrorContains(t, Catalogue.Check(RegistrySecret, "a/b"), "a Secret")
}

// What is about v2 alone is taken from v2 even where v1 has another value, and the other way round.
func TestMergeTakesEachValueFromTheDataEngineThatItIsAbout(t *testing.T) {
	one := Values{Image: "1", V1: true, MinimalAvailable: 1, OverProvisioning: 1, PurgesPerNode: 1, Copying: Copying{1, 1},
		CopyingV2: Copying{1, 1}, Engine: Engine{1, 1, 1}, Frontend: Frontend{1, 1, 1}}
	two := Values{Image: "2", V2: true, MinimalAvailable: 2, OverProvisioning: 2, PurgesPerNode: 2, Copying: Copying{2, 2},
		CopyingV2: Copying{3, 3}, Engine: Engine{2, 2, 2}, Frontend: Frontend{2, 2, 2}}
	want := Values{Image: "1", V1: true, V2: true, MinimalAvailable: 2, OverProvisioning: 2, PurgesPerNode: 1, Copying: Copying{1, 1},
		CopyingV2: Copying{2, 2}, Engine: Engine{1, 1, 1}, Frontend: Frontend{2, 2, 2}}
	require.Equal(t, want, Merge(one, two))
	require.Equal(t, want, Merge(want, two), "merged once, the values of v2 change nothing more")
}

func TestARefusedTolerationNamesTheFormOrTheEffects(t *testing.T) {
	_, err := parseTolerations("ok:NoExecute;a=b:Never")
	require.EqualError(t, err, `the value has item "a=b:Never", whose effect is none of NoSchedule, PreferNoSchedule and NoExecute`)
	got, err := parseTolerations("ok:NoExecute;=b")
	require.ErrorContains(t, err, "give key=value:Effect")
	require.Nil(t, got, "the items before a refused one are not taken either")
}
