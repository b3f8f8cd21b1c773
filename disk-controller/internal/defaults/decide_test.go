package defaults

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"drover.dev/drover/disk-controller/internal/disk"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/setting"
)

const gib = int64(1) << 30

// bare is a Node without disks and tags; each directory is on a file system of its own.
func bare(changes ...func(*World)) World {
	w := World{Node: "node-1", Settings: setting.DefaultDiskDefaults(), Look: func(path string) disk.Sight {
		switch path {
		case "/missing":
			return disk.Sight{Problem: "there is no such directory"}
		case "/read-only":
			return disk.Sight{ReadOnly: true, Filesystem: "0", Maximum: gib}
		case "/data/same":
			path = "/data"
		}
		return disk.Sight{Filesystem: fmt.Sprintf("%012x", len(path)), Maximum: 100 * gib}
	}}
	for _, change := range changes {
		change(&w)
	}
	return w
}

func requested(w *World) {
	w.Request = v1beta2.DefaultDiskRequest{Path: "/var/lib/longhorn", ReservedPercent: 10}.String()
}

func labelled(label string) func(*World) {
	return func(w *World) { w.Settings.LabeledOnly, w.Label = true, label }
}

func configured(text string) func(*World) {
	return func(w *World) { labelled(LabelConfig)(w); w.Disks = text }
}

func TestANewNodeGetsTheRequestedDiskOnce(t *testing.T) {
	v := Decide(bare(requested))
	require.Equal(t, map[string]v1beta2.DiskSpec{"default-disk-000000000011": {Path: "/var/lib/longhorn", AllowScheduling: true,
		DiskType: v1beta2.DiskTypeFilesystem, StorageReserved: 10 * gib}}, v.Disks)
	require.True(t, v.EndRequest)

	v = Decide(bare(requested, func(w *World) { w.HasDisks = true }))
	require.Empty(t, v.Disks, "disks of a person stay")
	require.True(t, v.EndRequest)
	require.False(t, Decide(bare()).Writes(), "a Node that lost its disks gets no other")
	require.False(t, Decide(bare(labelled(""))).Writes())
}

func TestARequestStaysUntilItsDirectoryCanBeUsed(t *testing.T) {
	v := Decide(bare(func(w *World) { w.Request = v1beta2.DefaultDiskRequest{Path: "/missing"}.String() }))
	require.False(t, v.Writes())
	require.Equal(t, v1beta2.ReasonNoDirectory, v.Problems[0].Reason)
	require.Contains(t, v.Problems[0].Text, "there is no such directory")
	v = Decide(bare(func(w *World) { w.Request = v1beta2.DefaultDiskRequest{Path: "/read-only"}.String() }))
	require.False(t, v.Writes(), "a directory of the pod itself is read-only")
	require.Equal(t, v1beta2.ReasonNoDirectory, v.Problems[0].Reason)
}

func TestALabelGivesDisksOnlyIfTheSettingSaysSo(t *testing.T) {
	label := func(w *World) { w.Label = LabelDefault }
	require.Empty(t, Decide(bare(label)).Disks)
	v := Decide(bare(label, labelled(LabelDefault)))
	require.Equal(t, 30*gib, v.Disks["default-disk-000000000011"].StorageReserved)
	require.Empty(t, Decide(bare(labelled(LabelDefault), func(w *World) { w.HasDisks = true })).Disks)
	require.Equal(t, v1beta2.ReasonInvalidDefaults, Decide(bare(labelled("yes"))).Problems[0].Reason)
	require.Empty(t, Decide(bare(labelled("false"))).Problems)
}

func TestAConfiguredListBecomesDisks(t *testing.T) {
	v := Decide(bare(configured(`[{"path":"/data","allowScheduling":true,"storageReserved":7,"tags":["ssd","fast","ssd"]},
		{"name":"second","path":"/second/","diskType":"filesystem"},{"path":"/dev/sdb","allowScheduling":true}]`),
		func(w *World) { w.V2 = true }))
	require.Empty(t, v.Problems)
	require.Len(t, v.Disks, 3)
	require.Equal(t, v1beta2.DiskSpec{Path: "/data", AllowScheduling: true, StorageReserved: 7, Tags: []string{"fast", "ssd"},
		DiskType: "filesystem"}, v.Disks["default-disk-000000000005"])
	require.Equal(t, v1beta2.DiskSpec{Path: "/second/", StorageReserved: 30 * gib, DiskType: "filesystem"}, v.Disks["second"])
	for key, d := range v.Disks {
		if d.Path == "/dev/sdb" {
			require.Regexp(t, "^default-disk-[0-9a-f]{8}$", key)
			require.Equal(t, v1beta2.DiskSpec{Path: "/dev/sdb", AllowScheduling: true, DiskType: "block", DiskDriver: "auto"}, d,
				"no device is formatted without a person's word")
		}
	}
	require.False(t, Decide(bare(configured("[]"))).Writes())
}

func TestOfAListThatCannotBeUsedNothingIsWritten(t *testing.T) {
	for text, says := range map[string]string{
		``:                     "not a JSON list",
		`{"path":"/data"}`:     "not a JSON list",
		`[{"path":"/data"}] x`: "not a JSON list",
		`[{"path":"/data"}]]`:  "not a JSON list",
		`[{"path":"/data","storageReserved":"1"}]`: "not a JSON list",
		`[{"name":"a"}]`: "not absolute",
		`[{"path":"/data","name":"a' ; reboot ; '"}]`:            "no name of a disk",
		`[{"path":"/data","name":"a/b"}]`:                        "no name of a disk",
		`[{"path":"/data/../etc"}]`:                              "..",
		`[{"path":"/data"},{"path":"/data/"}]`:                   "two disks have the path",
		`[{"name":"a","path":"/data"},{"name":"a","path":"/b"}]`: "two disks have the name a",
		`[{"path":"/data"},{"path":"/data/same"}]`:               "file system of another disk",
		`[{"path":"/data","storageReserved":-1}]`:                "storageReserved",
		`[{"path":"/data","storageReserved":107374182401}]`:      "and the disk has",
		`[{"path":"/data","tags":[""]}]`:                         "is no tag",
		`[{"path":"/data","tags":["a b"]}]`:                      "is no tag",
		`[{"path":"/data","diskType":"tape"}]`:                   "diskType",
		`[{"path":"/dev/sdb"}]`:                                  "v2-data-engine",
		`[{"path":"0000:00:1e.0","diskType":"filesystem"}]`:      "is no directory",
		`[{"path":"/data"},{"path":"/b","tags":["?"]}]`:          "is no tag",
	} {
		v := Decide(bare(configured(text)))
		require.False(t, v.Writes(), text)
		require.Len(t, v.Problems, 1, text)
		require.Equal(t, v1beta2.ReasonInvalidDefaults, v.Problems[0].Reason, text)
		require.Contains(t, v.Problems[0].Text, says, text)
		require.Contains(t, v.Problems[0].Text, "Correct it", text)
	}
}

func TestTagsAreWrittenIfTheNodeHasNone(t *testing.T) {
	tags := func(text string) func(*World) { return func(w *World) { w.Tags = text } }
	require.Equal(t, []string{"fast", "rack-a"}, Decide(bare(tags(`["rack-a","fast","fast"]`))).Tags)
	require.Empty(t, Decide(bare(tags(`["fast"]`), func(w *World) { w.HasTags = true })).Tags)
	require.False(t, Decide(bare(tags(`[]`))).Writes())
	for _, bad := range []string{`fast`, `["a b"]`, `[""]`, `{"a":"b"}`} {
		v := Decide(bare(tags(bad), requested))
		require.Empty(t, v.Tags, bad)
		require.NotEmpty(t, v.Disks, "a bad list of tags holds up no disk")
		require.Equal(t, v1beta2.ReasonInvalidDefaults, v.Problems[0].Reason)
	}
}

// Whatever a person writes, disks and tags that exist stay, and no disk is ever marked to be formatted.
func TestWhateverIsWrittenDisksOfPeopleStayAndNoDeviceIsFormatted(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := bare(func(w *World) {
			w.HasDisks, w.HasTags, w.V2 = rapid.Bool().Draw(t, "disks"), rapid.Bool().Draw(t, "tags"), rapid.Bool().Draw(t, "v2")
			w.Settings.LabeledOnly = rapid.Bool().Draw(t, "labelled only")
			w.Label = rapid.SampledFrom([]string{"", "true", "config", "false", "x"}).Draw(t, "label")
			w.Disks = rapid.SampledFrom([]string{"", "[]", `[{"path":"/a"}]`, `[{"path":"/dev/sdb","initialize":"new"}]`, "x"}).Draw(t, "config")
			w.Tags = rapid.SampledFrom([]string{"", "[]", `["a"]`, "x"}).Draw(t, "tag list")
			if rapid.Bool().Draw(t, "requested") {
				requested(w)
			}
		})
		v := Decide(w)
		require.False(t, w.HasDisks && len(v.Disks) > 0)
		require.False(t, w.HasTags && len(v.Tags) > 0)
		require.False(t, v.EndRequest && w.Request == "")
		for _, d := range v.Disks {
			require.Empty(t, d.Initialize)
		}
		if v.Writes() {
			w.HasDisks, w.HasTags = w.HasDisks || len(v.Disks) > 0, w.HasTags || len(v.Tags) > 0
			if v.EndRequest {
				w.Request = ""
			}
			require.False(t, Decide(w).Writes(), "it is written once")
		}
	})
}
