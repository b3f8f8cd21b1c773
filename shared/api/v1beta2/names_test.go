package v1beta2_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/util/validation"
	"pgregory.net/rapid"

	"drover.dev/drover/shared/api/v1beta2"
)

// The check values are those of the contract: clusters hold objects of these names.
func TestNamesAreThoseThatClustersHold(t *testing.T) {
	const manager = "instance-manager-0123456789abcdef0123456789abcdef"
	require.Equal(t, "orphan-b4c78f9706401a24c384d8a84360c653075d7259808d4e9ddfdbc6e5ac612164",
		v1beta2.OrphanName("vol-1-e-0", "11111111-2222-3333-4444-555555555555", manager, "v1"))
	require.Equal(t, "orphan-4015afbedba2f8c44d567331f05daf89c564910542da796b88b98f3a1b90ce9c",
		v1beta2.OrphanName("vol-1-r-aabbccdd", "66666666-7777-8888-9999-000000000000", manager, "v2"))
	require.Equal(t, "orphan-e2de7f3acb5bd67bff59ef6e50ad07205c84046df52502122fcf7606df0a5c47", v1beta2.OrphanDataName(
		"node-1", "default-disk-fd0100000000", "/var/lib/longhorn/", "aaaa1111-0000-4000-8000-000000000001", "vol-gone-0a1b2c3d"))
	const image = "longhornio/longhorn-instance-manager:v1.10.0"
	require.Equal(t, "instance-manager-8f4b8f9527799bc7afb7425460c719ed", v1beta2.InstanceManagerName("node-1", image, "v1"))
	require.Equal(t, "imi-dd3e0865", v1beta2.InstanceManagerImageLabel(image))
	require.Equal(t, "ei-88453db6", v1beta2.EngineImageName("longhornio/longhorn-engine:v1.12.0"))
}

func TestAnotherInstanceHasAnotherOrphan(t *testing.T) {
	base := []string{"vol-1-e-0", "uuid", "im", "v1"}
	name := func(p []string) string { return v1beta2.OrphanName(p[0], p[1], p[2], p[3]) }
	for i := range base {
		other := append([]string(nil), base...)
		other[i] += "x"
		require.NotEqual(t, name(base), name(other))
	}
	require.NotEqual(t, name(base), v1beta2.LegacyOrphanName(base[0], base[2], base[3]))
}

// A long name must never make an object impossible to create.
func TestEveryNameGivesAValidLabelValueAndDifferentOnesDiffer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.StringMatching(`[a-z0-9]([a-z0-9-]{0,250}[a-z0-9])?`).Draw(t, "name")
		other := rapid.StringMatching(`[a-z0-9]([a-z0-9-]{0,250}[a-z0-9])?`).Draw(t, "other")
		for _, label := range []func(string) string{v1beta2.LabelValue, v1beta2.VolumeLabelValue} {
			if problems := validation.IsValidLabelValue(label(name)); len(problems) > 0 {
				t.Fatalf("%q of %q: %v", label(name), name, problems)
			}
			if name != other && label(name) == label(other) {
				t.Fatalf("%q and %q share the label %q", name, other, label(name))
			}
		}
	})
}

func TestShortNamesAreTheirOwnLabelValues(t *testing.T) {
	require.Equal(t, strings.Repeat("v", 40), v1beta2.VolumeLabelValue(strings.Repeat("v", 40)))
	require.Equal(t, strings.Repeat("v", 31)+"-", v1beta2.VolumeLabelValue(strings.Repeat("v", 41))[:32])
	require.Len(t, v1beta2.VolumeLabelValue(strings.Repeat("v", 41)), 40)
	require.Equal(t, strings.Repeat("v", 63), v1beta2.LabelValue(strings.Repeat("v", 63)))
	require.Len(t, v1beta2.LabelValue(strings.Repeat("v", 64)), 63)
}

// A server may report any name.
func TestWhateverIsCalledSomehowHasAValidLabelValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		name := rapid.String().Draw(t, "name")
		if problems := validation.IsValidLabelValue(v1beta2.LabelValue(name)); len(problems) > 0 {
			t.Fatalf("%q of %q: %v", v1beta2.LabelValue(name), name, problems)
		}
	})
	require.NotEqual(t, v1beta2.LabelValue("a/b"), v1beta2.LabelValue("a-b"))
	require.NotEqual(t, v1beta2.LabelValue("a/b"), v1beta2.LabelValue("a b"))
}
