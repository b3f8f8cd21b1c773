package volumesnapshot

import (
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/types"
)

func TestAHandleIsWrittenAsItWasRead(t *testing.T) {
	for text, want := range map[string]Handle{
		"snap://vol/snapshot-1":  {Kind: KindSnapshot, Volume: "vol", Name: "snapshot-1"},
		"bak://vol/backup-1":     {Kind: KindBackup, Volume: "vol", Name: "backup-1"},
		"bs://vol/backup-1":      {Kind: KindBackup, Volume: "vol", Name: "backup-1", Old: true},
		"snap://vol.a/s.b_c:d e": {Kind: KindSnapshot, Volume: "vol.a", Name: "s.b_c:d e"},
	} {
		t.Run(text, func(t *testing.T) {
			h, ok := ParseHandle(text)
			require.True(t, ok)
			require.Equal(t, want, h)
			require.Equal(t, text, h.String())
		})
	}
}

// Behind a handle that is read wrongly the data of another snapshot would be removed.
func TestWhatIsNoHandleOfOurs(t *testing.T) {
	for sentence, text := range map[string]string{
		"nothing":                    "",
		"a name only":                "snapshot-1",
		"no kind":                    "://vol/s",
		"another kind":               "vol://vol/s",
		"a kind in capitals":         "SNAP://vol/s",
		"a space before it":          " snap://vol/s",
		"one slash after the kind":   "snap:/vol/s",
		"no volume":                  "snap:///s",
		"no name":                    "snap://vol/",
		"no slash after the volume":  "snap://vol",
		"nothing after the kind":     "bak://",
		"a name with a slash":        "snap://vol/s/t",
		"an old backup without name": "bs://vol/",
	} {
		t.Run(sentence, func(t *testing.T) {
			_, ok := ParseHandle(text)
			require.False(t, ok)
		})
	}
}

type behind struct{ volume, snapshot, backup string }

func TestWhatIsBehindAVolumeAndHandles(t *testing.T) {
	for sentence, c := range map[string]struct {
		volume, uid string
		handles     []string
		want        behind
	}{
		"nothing":                    {},
		"it is to be taken":          {volume: "vol", uid: "u", want: behind{"vol", "snapshot-u", "backup-u"}},
		"a volume that is not bound": {volume: "vol"},
		"bound to no volume":         {uid: "u"},
		"a snapshot is there":        {handles: []string{"snap://other/s"}, want: behind{"other", "s", ""}},
		"a backup is there":          {handles: []string{"bak://other/b"}, want: behind{"other", "", "b"}},
		"an older one's, too":        {handles: []string{"bs://other/b"}, want: behind{"other", "", "b"}},
		"both are there":             {handles: []string{"snap://vol/s", "bak://vol/b"}, want: behind{"vol", "s", "b"}},
		"what is there goes before what is to be taken": {volume: "vol", uid: "u", handles: []string{"snap://old/s"},
			want: behind{"old", "s", "backup-u"}},
		"a backup leaves the snapshot that was taken for it": {volume: "vol", uid: "u", handles: []string{"", "bak://vol/b"},
			want: behind{"vol", "snapshot-u", "b"}},
		"the last handle counts": {handles: []string{"snap://a/s", "snap://b/t"}, want: behind{"b", "t", ""}},
		"another driver's handle changes nothing": {volume: "vol", uid: "u", handles: []string{"id-1"},
			want: behind{"vol", "snapshot-u", "backup-u"}},
	} {
		t.Run(sentence, func(t *testing.T) {
			var got behind
			got.volume, got.snapshot, got.backup = Behind(c.volume, c.uid, c.handles...)
			require.Equal(t, c.want, got)
		})
	}
}

func TestWhatIsBehindAContent(t *testing.T) {
	content := func(driver, volume, handle, status string, uid types.UID) Content {
		c := Content{Spec: ContentSpec{Driver: driver, Source: ContentSource{VolumeHandle: volume, SnapshotHandle: handle},
			VolumeSnapshotRef: Reference{UID: uid}}}
		if status != "" {
			c.Status = &ContentStatus{SnapshotHandle: status}
		}
		return c
	}
	for sentence, c := range map[string]struct {
		content Content
		want    behind
	}{
		"one that is to be taken":  {content(Driver, "vol", "", "", "u"), behind{"vol", "snapshot-u", "backup-u"}},
		"one that is not bound":    {content(Driver, "vol", "", "", ""), behind{}},
		"one that was taken":       {content(Driver, "vol", "", "snap://vol/s", "u"), behind{"vol", "s", "backup-u"}},
		"one that was there":       {content(Driver, "", "bak://other/b", "", ""), behind{"other", "", "b"}},
		"its status goes before":   {content(Driver, "", "snap://vol/s", "snap://vol/t", ""), behind{"vol", "t", ""}},
		"another driver's":         {content("other.example.com", "vol", "snap://vol/s", "snap://vol/s", "u"), behind{}},
		"one without a driver yet": {content("", "vol", "", "", "u"), behind{}},
	} {
		t.Run(sentence, func(t *testing.T) {
			var got behind
			got.volume, got.snapshot, got.backup = c.content.Behind()
			require.Equal(t, c.want, got)
		})
	}
}

// With other names, what clusters have already would be taken again.
func TestWhatWasTakenBeforeIsFoundByItsName(t *testing.T) {
	require.Equal(t, "snapshot-1b4e", SnapshotName("1b4e"))
	require.Equal(t, "backup-1b4e", BackupName("1b4e"))
	require.Equal(t, "driver.longhorn.io", Driver)
}
