package snapshotlimit

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

// chain is a list of snapshots, each the parent of the next, and the head.
func chain(sizes ...int) map[string]v1beta2.SnapshotInfo {
	out, parent := map[string]v1beta2.SnapshotInfo{}, ""
	for i, size := range sizes {
		name := fmt.Sprintf("s%d", i)
		if i == len(sizes)-1 {
			name = Head
		}
		out[name] = v1beta2.SnapshotInfo{Name: name, Parent: parent, Size: fmt.Sprint(size)}
		parent = name
	}
	return out
}

func removed(list map[string]v1beta2.SnapshotInfo, names ...string) map[string]v1beta2.SnapshotInfo {
	for _, name := range names {
		info := list[name]
		info.Removed = true
		list[name] = info
	}
	return list
}

func TestTheRuleIsTheEnginesOwn(t *testing.T) {
	full := chain(make([]int, MaxDisks)...)
	for name := range full {
		if name != Head {
			removed(full, name)
		}
	}
	branch := chain(10, 10, 5)
	branch["aside"] = v1beta2.SnapshotInfo{Name: "aside", Parent: "s0", Size: "1000"}
	for _, c := range []struct {
		name   string
		list   map[string]v1beta2.SnapshotInfo
		limits Limits
		want   string
	}{
		{"the head does not count", chain(0, 0), Limits{Count: 2}, ""},
		{"as many as it may have", chain(0, 0, 0), Limits{Count: 2}, "has 2 snapshots and may have 2"},
		{"removed ones do not count", removed(chain(0, 0, 0), "s0"), Limits{Count: 2}, ""},
		{"no limit of number", chain(0, 0, 0), Limits{}, ""},
		{"all disks count, whatever their marks", full, Limits{Count: 250}, "250 disks"},
		{"of v2 the number alone", full, Limits{Count: 250, Bytes: 1, CountOnly: true}, ""},
		{"the head just fits", chain(10, 10, 5), Limits{Bytes: 25}, ""},
		{"the head does not fit", chain(10, 10, 6), Limits{Bytes: 25}, "head has 6"},
		{"removed ones have no bytes", removed(chain(10, 10, 6), "s0"), Limits{Bytes: 25}, ""},
		{"what the head does not build on has none", branch, Limits{Bytes: 25}, ""},
		{"an engine that lists nothing", nil, Limits{Count: 1, Bytes: 1}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := Reached("vol", c.list, c.limits)
			if c.want == "" {
				require.Empty(t, got)
				return
			}
			require.Contains(t, got, c.want)
		})
	}
}

func TestWhichLimitsCount(t *testing.T) {
	v := &v1beta2.Volume{}
	require.Equal(t, Limits{Count: 10}, OfVolume(v, 10), "the setting's")
	v.Spec.SnapshotMaxCount, v.Spec.SnapshotMaxSize, v.Spec.DataEngine = 20, 7, v1beta2.DataEngineV2
	require.Equal(t, Limits{Count: 20, Bytes: 7, CountOnly: true}, OfVolume(v, 10), "its own")
	e := &v1beta2.Engine{}
	require.Equal(t, Limits{Count: MaxDisks}, OfEngine(e), "an engine is never without one")
	e.Spec.SnapshotMaxCount, e.Spec.SnapshotMaxSize = 20, 7
	require.Equal(t, Limits{Count: 20, Bytes: 7}, OfEngine(e), "its spec's, where it reports none")
	e.Status.SnapshotMaxCount, e.Status.SnapshotMaxSize = 30, 9
	require.Equal(t, Limits{Count: 30, Bytes: 9}, OfEngine(e), "those that it keeps")
}
