package directory

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

const (
	id    = "aaaa1111-0000-4000-8000-000000000001"
	other = "bbbb2222-0000-4000-8000-000000000002"
)

var config = Config{DiskName: "default-disk", DiskUUID: id, State: "ready"}

// host is the root of a simulated host with one directory for a disk, and a file and a directory outside that no disk may reach.
type host struct {
	t             *testing.T
	root, outside string
}

const place = "/var/lib/longhorn"

func newHost(t *testing.T) host {
	t.Helper()
	base := t.TempDir()
	h := host{t: t, root: filepath.Join(base, "host"), outside: filepath.Join(base, "outside")}
	require.NoError(t, os.MkdirAll(h.in(""), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(h.outside, "vol-1-r-0a1b2c3d"), 0o755))
	require.NoError(t, os.WriteFile(h.secret(), []byte(`{"diskUUID":"`+other+`"}`), 0o600))
	t.Cleanup(h.requireOutsideUntouched)
	return h
}

func (h host) in(name string) string { return filepath.Join(h.root, place, name) }
func (h host) secret() string        { return filepath.Join(h.outside, "secret") }

func (h host) write(name, text string) {
	h.t.Helper()
	require.NoError(h.t, os.WriteFile(h.in(name), []byte(text), 0o644))
}

func (h host) requireOutsideUntouched() {
	content, err := os.ReadFile(h.secret())
	require.NoError(h.t, err)
	require.Equal(h.t, `{"diskUUID":"`+other+`"}`, string(content))
	entries, err := os.ReadDir(h.outside)
	require.NoError(h.t, err)
	require.Len(h.t, entries, 2, "nothing was made or removed outside the disk")
}

func (h host) open() *Disk {
	h.t.Helper()
	d, err := At(h.root).Open(place)
	require.NoError(h.t, err)
	h.t.Cleanup(d.Close)
	return d
}

func (h host) look() Sight {
	h.t.Helper()
	s, err := h.open().Look()
	require.NoError(h.t, err)
	return s
}

func TestADirectoryBecomesADiskOnce(t *testing.T) {
	h := newHost(t)
	require.Nil(t, h.look().Config)
	require.NoError(t, h.open().Prepare(config))
	content, err := os.ReadFile(h.in(ConfigName))
	require.NoError(t, err)
	require.JSONEq(t, `{"diskName":"default-disk","diskUUID":"`+id+`","diskDriver":"","state":"ready"}`, string(content))
	require.DirExists(t, h.in(replicas))
	seen := h.look()
	require.Equal(t, &config, seen.Config)
	require.False(t, seen.Replicas)
	require.Positive(t, seen.Maximum)
	require.NotEmpty(t, seen.Filesystem)

	again := config
	again.DiskUUID = other
	require.ErrorIs(t, h.open().Prepare(again), unix.EEXIST)
	require.Equal(t, id, h.look().Config.DiskUUID, "a configuration file is never replaced")
	require.NoFileExists(t, h.in(written))
}

func TestADiskThatWasPreparedHalfIsPreparedByTheNextAttempt(t *testing.T) {
	for name, left := range map[string]func(host){
		"the directory for replicas was made": func(h host) { require.NoError(t, os.Mkdir(h.in(replicas), 0o755)) },
		"the file was made and is empty":      func(h host) { h.write(written, "") },
		"the file was written half":           func(h host) { h.write(written, `{"diskName":"defa`) },
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t)
			left(h)
			require.Nil(t, h.look().Config)
			require.NoError(t, h.open().Prepare(config))
			require.Equal(t, &config, h.look().Config)
		})
	}
}

func TestReplicasOnADiskAreSeen(t *testing.T) {
	h := newHost(t)
	require.NoError(t, os.MkdirAll(h.in("replicas/vol-1-r-0a1b2c3d"), 0o755))
	require.True(t, h.look().Replicas)
}

func TestAPathThatCannotBeADiskIsRefused(t *testing.T) {
	h := newHost(t)
	for name, path := range map[string]string{
		"relative": "var/lib/longhorn", "..": "/var/lib/longhorn/../../../outside", ". in it": "/var/./lib", "empty parts": "/var//lib",
		"the root itself": "/", "nothing": "", "of parents alone": "/../..",
	} {
		_, err := At(h.root).Open(path)
		require.Error(t, err, name)
	}
	_, err := At(h.root).Open("/var/lib/absent")
	require.ErrorIs(t, err, ErrMissing)
	h.write("file", "")
	_, err = At(h.root).Open(place + "/file")
	require.ErrorContains(t, err, "not a directory")
}

// A symbolic link above the disk leads to where it leads on the host, never to the file system of this process.
func TestALinkAboveTheDiskStaysOnTheHost(t *testing.T) {
	h := newHost(t)
	require.NoError(t, os.MkdirAll(filepath.Join(h.root, h.outside), 0o755))
	for name, target := range map[string]string{"absolute": h.outside, "upwards": "../../../../../../../../../../../.." + h.outside} {
		link := filepath.Join(h.root, name)
		require.NoError(t, os.Symlink(target, link))
		d, err := At(h.root).Open("/" + name)
		require.NoError(t, err)
		require.NoError(t, os.RemoveAll(filepath.Join(h.root, h.outside, ConfigName)))
		require.NoError(t, d.Prepare(config))
		d.Close()
		require.FileExists(t, filepath.Join(h.root, h.outside, ConfigName))
	}
}

func TestNothingBesideTheDiskIsReadOrWritten(t *testing.T) {
	long := strings.Repeat(" ", mostBytes+1)
	for name, c := range map[string]struct {
		attack func(t *testing.T, h host)
		want   string
	}{
		"the file is a link to a file outside": {func(t *testing.T, h host) { require.NoError(t, os.Symlink(h.secret(), h.in(ConfigName))) },
			"symbolic link"},
		"the file is a link to a file that does not exist": {func(t *testing.T, h host) {
			require.NoError(t, os.Symlink(filepath.Join(h.outside, "new"), h.in(ConfigName)))
		}, "symbolic link"},
		"the file is a pipe that nobody writes": {func(t *testing.T, h host) { require.NoError(t, unix.Mkfifo(h.in(ConfigName), 0o600)) },
			"not a regular file"},
		"the file is a directory": {func(t *testing.T, h host) { require.NoError(t, os.Mkdir(h.in(ConfigName), 0o755)) },
			"not a regular file"},
		"the file is huge":        {func(_ *testing.T, h host) { h.write(ConfigName, long) }, "which no file of Longhorn has"},
		"the file is no JSON":     {func(_ *testing.T, h host) { h.write(ConfigName, "root:x:secret") }, "not the JSON of a disk"},
		"the file has no UUID":    {func(_ *testing.T, h host) { h.write(ConfigName, `{}`) }, "not a UUID"},
		"the UUID has separators": {func(_ *testing.T, h host) { h.write(ConfigName, `{"diskUUID":"../../etc"}`) }, "not a UUID"},
		"the UUID has braces":     {func(_ *testing.T, h host) { h.write(ConfigName, `{"diskUUID":"{`+id+`}"}`) }, "not a UUID"},
	} {
		t.Run(name, func(t *testing.T) {
			h := newHost(t)
			c.attack(t, h)
			seen := h.look()
			require.Nil(t, seen.Config)
			require.Contains(t, seen.Unreadable, c.want)
			require.NotContains(t, seen.Unreadable, "secret", "the content may be of any file")
			require.Error(t, h.open().Prepare(config))
		})
	}
}

func TestALinkInPlaceOfTheReplicasIsNotFollowed(t *testing.T) {
	h := newHost(t)
	require.NoError(t, os.Symlink(h.outside, h.in(replicas)))
	_, err := h.open().Look()
	require.ErrorContains(t, err, "a symbolic link, which is not followed")
}

func TestWhatLiesUnderTheNameOfTheUnfinishedFileIsNotWrittenTo(t *testing.T) {
	h := newHost(t)
	require.NoError(t, os.Symlink(h.secret(), h.in(written)))
	require.NoError(t, h.open().Prepare(config), "the link is removed, and what it leads to stays")
	require.Equal(t, &config, h.look().Config)

	h = newHost(t)
	require.NoError(t, os.MkdirAll(h.in(written+"/kept"), 0o755))
	require.Error(t, h.open().Prepare(config))
	require.DirExists(t, h.in(written+"/kept"))
	require.NoFileExists(t, h.in(ConfigName))
}

func TestAnotherMountIsNotEntered(t *testing.T) {
	fd, err := unix.Open("/", unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	require.NoError(t, err)
	d := &Disk{fd: fd}
	defer d.Close()
	_, err = d.beneath("proc/self", unix.O_RDONLY, 0)
	require.Error(t, err)
	_, err = d.beneath("proc", unix.O_RDONLY|unix.O_DIRECTORY, 0)
	require.ErrorContains(t, explain(err), "mount of another file system")
}

func TestTheIDOfAFileSystemIsWrittenAsLonghornWritesIt(t *testing.T) {
	require.Equal(t, "fd0100000000", filesystemID([2]int32{0xfd01, 0}, 7))
	require.Equal(t, "ffffffff80000001", filesystemID([2]int32{-1, -0x7fffffff}, 7))
	require.Equal(t, "000000000007", filesystemID([2]int32{}, 7))
}
