package disk

import (
	"fmt"
	"maps"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/diskspace"
)

const (
	mib = int64(1) << 20
	gib = int64(1) << 30
)

const (
	uuidA = "aaaa1111-0000-4000-8000-000000000001"
	uuidB = "bbbb2222-0000-4000-8000-000000000002"
)

var now = time.Date(2026, 11, 28, 10, 0, 0, 0, time.UTC)

// oneDisk is a node whose disk a is as it should be, and on record.
func oneDisk() World {
	w := World{
		Now: now, Node: "node-1", Pressure: diskspace.Limits{MinimalAvailable: 25, OverProvisioning: 100},
		Specs:  map[string]v1beta2.DiskSpec{"a": {Path: "/a", DiskType: v1beta2.DiskTypeFilesystem, StorageReserved: 10 * gib}},
		Status: map[string]v1beta2.DiskStatus{},
		Sights: map[string]Sight{"a": {UUID: uuidA, Filesystem: "fd01", Type: "xfs", Maximum: 100 * gib, Available: 60*gib + 7}},
	}
	w.Elsewhere = map[string]string{}
	return w.written(Decide(w))
}

// written is the world after the changes of a verdict.
func (w World) written(v Verdict) World {
	w.Status = maps.Clone(w.Status)
	for key, d := range v.Changes {
		if d == nil {
			delete(w.Status, key)
		} else {
			w.Status[key] = *d
		}
	}
	return w
}

func (w World) with(key string, spec v1beta2.DiskSpec, seen Sight) World {
	w.Specs, w.Sights = maps.Clone(w.Specs), maps.Clone(w.Sights)
	w.Specs[key], w.Sights[key] = spec, seen
	return w
}

func (w World) seeing(change func(*Sight)) World {
	seen := w.Sights["a"]
	change(&seen)
	return w.with("a", w.Specs["a"], seen)
}

func reasons(d *v1beta2.DiskStatus) string {
	if d == nil {
		return "removed"
	}
	return conditions.Reason(d.Conditions, v1beta2.DiskReady) + " " + conditions.Reason(d.Conditions, v1beta2.DiskSchedulable)
}

func TestADiskThatIsAsRecordedIsReadyAndMeasured(t *testing.T) {
	d := oneDisk().Status["a"]
	require.Equal(t, "DiskReady Schedulable", reasons(&d))
	require.Equal(t, []any{uuidA, "a", "/a", "filesystem", "xfs"}, []any{d.DiskUUID, d.DiskName, d.DiskPath, d.DiskType, d.FilesystemType})
	require.Equal(t, 100*gib, d.StorageMaximum)
	require.Equal(t, 60*gib/grain*grain, d.StorageAvailable, "free space is rounded down to 100 MiB")
	require.Empty(t, Decide(oneDisk()).Changes)
}

func TestADiskThatIsNotAsRecordedIsReportedAndKeepsItsRecord(t *testing.T) {
	spec := func(path string) v1beta2.DiskSpec { return v1beta2.DiskSpec{Path: path} }
	for name, c := range map[string]struct {
		world World
		want  string
		says  string
	}{
		"its directory is missing": {oneDisk().seeing(func(s *Sight) { *s = Sight{Problem: "there is no such directory"} }),
			"NoDiskInfo DiskNotReady", "there is no such directory"},
		"it lost its file": {oneDisk().seeing(func(s *Sight) { s.UUID = "" }), "DiskFilesystemChanged DiskNotReady", "mount the disk there"},
		"it has the file of another disk": {oneDisk().seeing(func(s *Sight) { s.UUID = uuidB }), "DiskFilesystemChanged DiskNotReady",
			"has the UUID " + uuidB},
		"its file cannot be read": {oneDisk().seeing(func(s *Sight) { s.UUID, s.Unreadable = "", "it is a symbolic link" }),
			"DiskFilesystemChanged DiskNotReady", "never replaced"},
		"its node is not ready": {func() World { w := oneDisk(); w.NodeNotReady = "Gone."; return w }(), "NodeNotReady NodeNotReady", "Gone."},
		"its path changed under a replica": {func() World {
			w := oneDisk().with("a", spec("/b"), oneDisk().Sights["a"])
			w.Replicas = []Replica{{Name: "r-2", DiskID: uuidA}, {Name: "r-1", DiskID: uuidA}}
			return w
		}(), "DiskFilesystemChanged DiskNotReady", "replica r-1 names the old path"},
	} {
		t.Run(name, func(t *testing.T) {
			v := Decide(c.world)
			d := v.Changes["a"]
			require.Equal(t, c.want, reasons(d))
			require.Contains(t, conditions.Get(d.Conditions, v1beta2.DiskReady).Message, c.says)
			require.Equal(t, []any{uuidA, "a", "/a"}, []any{d.DiskUUID, d.DiskName, d.DiskPath}, "the record stays")
			require.Zero(t, d.StorageMaximum+d.StorageAvailable+d.StorageScheduled)
			require.Empty(t, v.Prepare, "no directory becomes a disk in place of the recorded one")
		})
	}
}

func TestAPathMayChangeWhileNoReplicaIsOnTheDisk(t *testing.T) {
	w := oneDisk().with("a", v1beta2.DiskSpec{Path: "/b"}, oneDisk().Sights["a"])
	require.Equal(t, "/b", Decide(w).Changes["a"].DiskPath)
}

func TestANewDisk(t *testing.T) {
	added := func(seen Sight, elsewhere map[string]string) World {
		seen.Maximum, seen.Available = 10*gib, 9*gib
		w := oneDisk().with("b", v1beta2.DiskSpec{Path: "/b"}, seen)
		w.Elsewhere = elsewhere
		return w
	}
	known := map[string]string{uuidB: "disk x of node node-2"}
	for name, c := range map[string]struct {
		world   World
		want    string
		prepare []string
		ask     bool
	}{
		"is not touched before the disks of other nodes are known": {added(Sight{Filesystem: "2"}, nil), "NoDiskInfo DiskNotReady", nil, true},
		"gets its file in an empty directory": {added(Sight{Filesystem: "2"}, known), "NoDiskInfo DiskNotReady", []string{"b"},
			false},
		"gets no file beside replicas of unknown origin": {added(Sight{Filesystem: "2", HasReplicas: true}, known), "NoDiskInfo DiskNotReady",
			nil, false},
		"is taken with its file": {added(Sight{Filesystem: "2", UUID: uuidB, HasReplicas: true}, map[string]string{}), "DiskReady Schedulable",
			nil, false},
		"with a file is not taken before the disks of other nodes are known": {added(Sight{Filesystem: "2", UUID: uuidB}, nil),
			"NoDiskInfo DiskNotReady", nil, true},
		"that is on record at another node is not taken": {added(Sight{Filesystem: "2", UUID: uuidB}, known),
			"DiskFilesystemChanged DiskNotReady", nil, false},
		"that is a copy of another disk of the node is not taken": {added(Sight{Filesystem: "2", UUID: uuidA}, known),
			"DiskFilesystemChanged DiskNotReady", nil, false},
		"on the file system of another disk gets no file": {added(Sight{Filesystem: "fd01"}, known), "DiskFilesystemChanged DiskNotReady", nil,
			false},
		"with a file that cannot be read is not prepared": {added(Sight{Filesystem: "2", Unreadable: "it is a directory"}, known),
			"NoDiskInfo DiskNotReady", nil, false},
	} {
		t.Run(name, func(t *testing.T) {
			v := Decide(c.world)
			require.Equal(t, c.want, reasons(v.Changes["b"]))
			require.Equal(t, c.prepare, v.Prepare)
			require.Equal(t, c.ask, v.AskElsewhere)
			require.NotContains(t, v.Changes, "a", "the disk in use stays as it is")
		})
	}
}

func TestADiskThatLeftTheSpecStaysWhileAReplicaIsOnIt(t *testing.T) {
	w := oneDisk()
	w.Specs = nil
	w.Replicas = []Replica{{Name: "r-1", DiskID: uuidA}}
	v := Decide(w)
	require.Equal(t, "NoDiskInfo DiskNotReady", reasons(v.Changes["a"]))
	require.Empty(t, Decide(w.written(v)).Changes)
	untyped := w.Status["a"]
	untyped.DiskType = ""
	w.Status = map[string]v1beta2.DiskStatus{"a": untyped}
	require.Equal(t, v1beta2.DiskTypeFilesystem, Decide(w).Changes["a"].DiskType, "the policy takes no status without a type")
	w.Replicas = nil
	require.Equal(t, map[string]*v1beta2.DiskStatus{"a": nil}, Decide(w).Changes)
}

func TestDisksOfTypeBlockAreNeverTouched(t *testing.T) {
	block := v1beta2.DiskSpec{Path: "/dev/sdb", DiskType: v1beta2.DiskTypeBlock}
	loaded := v1beta2.DiskStatus{DiskType: v1beta2.DiskTypeBlock, DiskUUID: uuidB}
	w := World{Now: now, Node: "node-1", Specs: map[string]v1beta2.DiskSpec{"b": block},
		Status: map[string]v1beta2.DiskStatus{"b": loaded, "left": loaded}}
	require.Empty(t, Decide(w).Changes)
	w.Specs["left"] = v1beta2.DiskSpec{Path: "/left"}
	w.Sights = map[string]Sight{"left": {Filesystem: "1"}}
	v := Decide(w)
	require.Empty(t, v.Changes, "a key belongs to im-monitor until it has released its disk")
	require.False(t, v.AskElsewhere)
	w.Status["b"] = v1beta2.DiskStatus{DiskType: v1beta2.DiskTypeFilesystem, DiskUUID: uuidA}
	require.Equal(t, map[string]*v1beta2.DiskStatus{"b": nil}, Decide(w).Changes, "and to this controller until it has removed its entry")
}

func TestAFullDiskIsNotSchedulable(t *testing.T) {
	for name, c := range map[string]struct {
		free, promised int64
		want           string
	}{
		"half free": {50, 0, "Schedulable"}, "free as the setting demands": {25, 0, "DiskPressure"}, "nothing free": {0, 0, "DiskPressure"},
		"all promised": {60, 90, "Schedulable"}, "more promised than is not reserved": {60, 91, "DiskPressure"},
	} {
		t.Run(name, func(t *testing.T) {
			w := oneDisk().seeing(func(s *Sight) { s.Available = c.free * gib })
			w.Replicas = []Replica{{Name: "r-1", DiskID: uuidA, Bytes: c.promised * gib / 2}, {Name: "r-2", DiskID: uuidB, Bytes: 1 << 60}}
			w.Images = []Image{{Name: "i", Disks: []string{uuidB, uuidA}, Bytes: c.promised * gib / 2}}
			d := w.written(Decide(w)).Status["a"]
			require.Equal(t, c.want, conditions.Reason(d.Conditions, v1beta2.DiskSchedulable))
			require.Equal(t, c.promised*gib, d.StorageScheduled)
			require.Equal(t, map[string]int64{"r-1": c.promised * gib / 2}, d.ScheduledReplica)
			require.Equal(t, map[string]int64{"i": c.promised * gib / 2}, d.ScheduledBackingImage)
		})
	}
}

func TestASmallChangeOfFreeSpaceIsNotWritten(t *testing.T) {
	free := func(bytes int64) World { return oneDisk().seeing(func(s *Sight) { s.Available = bytes }) }
	require.Empty(t, Decide(free(60*gib-gib)).Changes, "1 % of the disk")
	require.NotEmpty(t, Decide(free(60*gib-2*gib)).Changes)
	w := free(25*gib + 500*mib)
	w = w.written(Decide(w))
	full := Decide(w.seeing(func(s *Sight) { s.Available = 25 * gib })).Changes["a"]
	require.Equal(t, "DiskReady DiskPressure", reasons(full), "a small change that matters is written")
}

func TestAUUIDBeginsLikeNoOther(t *testing.T) {
	w := oneDisk()
	w.Elsewhere = map[string]string{uuidB: "disk x of node node-2"}
	series := []string{"aaaa3333-0000-4000-8000-000000000003", "bbbb3333-0000-4000-8000-000000000003", "cccc3333-0000-4000-8000-000000000003"}
	next := 0
	require.Equal(t, series[2], w.ChooseUUID(func() string { next++; return series[next-1] }))
	require.Equal(t, series[0], w.ChooseUUID(func() string { return series[0] }), "when every beginning is taken")
}

// In any world a verdict that was made true leads to no further change, no disk of type block is touched, no recorded UUID changes, and no
// UUID is on two ready disks.
func TestDecisionsHoldInEveryWorld(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWorld(t)
		v := Decide(w)
		after := w.written(v)
		again := Decide(after)
		require.Empty(t, again.Changes)
		require.Equal(t, v.Prepare, again.Prepare)
		ready := map[string]bool{}
		for key, d := range after.Status {
			if w.Status[key].DiskType == v1beta2.DiskTypeBlock {
				require.NotContains(t, v.Changes, key)
				continue
			}
			if before := w.Status[key].DiskUUID; before != "" {
				require.Equal(t, before, d.DiskUUID)
			}
			if conditions.IsTrue(d.Conditions, v1beta2.DiskReady) {
				require.False(t, ready[d.DiskUUID], "two ready disks have one UUID")
				require.Equal(t, w.Sights[key].UUID, d.DiskUUID)
				ready[d.DiskUUID] = true
			}
		}
		for _, key := range v.Prepare {
			require.Empty(t, w.Status[key].DiskUUID)
			require.Empty(t, w.Sights[key].UUID+w.Sights[key].Unreadable+w.Sights[key].Problem)
			require.False(t, w.Sights[key].HasReplicas)
		}
	})
}

func drawWorld(t *rapid.T) World {
	w := World{Now: now, Node: "node-1", Pressure: diskspace.Limits{MinimalAvailable: 25, OverProvisioning: 100},
		Specs: map[string]v1beta2.DiskSpec{}, Status: map[string]v1beta2.DiskStatus{}, Sights: map[string]Sight{}}
	uuid := rapid.SampledFrom([]string{"", uuidA, uuidB})
	kind := rapid.SampledFrom([]string{"", v1beta2.DiskTypeFilesystem, v1beta2.DiskTypeBlock})
	text := rapid.SampledFrom([]string{"", "", "broken"})
	for i := range 3 {
		key := fmt.Sprint("disk-", i)
		if rapid.Bool().Draw(t, "in the spec") {
			w.Specs[key] = v1beta2.DiskSpec{Path: "/" + key, DiskType: kind.Draw(t, "type")}
			w.Sights[key] = Sight{Problem: text.Draw(t, "problem"), Unreadable: text.Draw(t, "unreadable"),
				Filesystem: rapid.SampledFrom([]string{"1", "2", "3"}).Draw(t, "file system"), HasReplicas: rapid.Bool().Draw(t, "replicas"),
				Maximum: rapid.Int64Range(0, 100*gib).Draw(t, "maximum"), Available: rapid.Int64Range(0, 100*gib).Draw(t, "available")}
			if s := w.Sights[key]; s.Problem+s.Unreadable == "" {
				s.UUID = uuid.Draw(t, "UUID")
				w.Sights[key] = s
			}
		}
		if rapid.Bool().Draw(t, "on record") {
			w.Status[key] = v1beta2.DiskStatus{DiskType: kind.Draw(t, "recorded type"), DiskUUID: uuid.Draw(t, "recorded UUID"),
				DiskPath: rapid.SampledFrom([]string{"/" + key, "/old"}).Draw(t, "recorded path")}
		}
	}
	for _, id := range rapid.SliceOfN(uuid, 0, 3).Draw(t, "replicas") {
		w.Replicas = append(w.Replicas, Replica{Name: "r", DiskID: id, Bytes: gib})
	}
	if rapid.Bool().Draw(t, "others are known") {
		w.Elsewhere = map[string]string{uuidB: "disk x of node node-2"}
	}
	return w
}

// A status without a type may have been written by an im-monitor that did not know types: its UUID is kept for the v2 disk.
func TestAStatusWithoutATypeBelongsToTheTypeOfItsSpec(t *testing.T) {
	w := oneDisk()
	w.Specs["fast"] = v1beta2.DiskSpec{Path: "/dev/sdb", DiskType: v1beta2.DiskTypeBlock}
	w.Status["fast"] = v1beta2.DiskStatus{DiskUUID: uuidB}
	require.Empty(t, Decide(w).Changes)
	w.Status["fast"] = v1beta2.DiskStatus{DiskUUID: uuidB, DiskType: v1beta2.DiskTypeFilesystem}
	require.Equal(t, map[string]*v1beta2.DiskStatus{"fast": nil}, Decide(w).Changes)
}
