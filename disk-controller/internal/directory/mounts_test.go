package directory

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

// inside names the test that runs in a namespace of its own.
const inside = "DROVER_TEST_IN_NAMESPACE"

// withMounts runs a test in a user and mount namespace of its own, where any user may mount.
func withMounts(t *testing.T, test func(*testing.T)) {
	t.Helper()
	if os.Getenv(inside) == t.Name() {
		require.NoError(t, unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""))
		test(t)
		return
	}
	command := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	command.Env = append(os.Environ(), inside+"="+t.Name())
	command.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWUSER | syscall.CLONE_NEWNS,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}}}
	output, err := command.CombinedOutput()
	require.NoError(t, err, "user namespaces are needed (kernel.apparmor_restrict_unprivileged_userns=0 on Ubuntu): %s", output)
	require.Contains(t, string(output), "--- PASS: "+t.Name())
}

func mountTmpfs(t *testing.T, at, options string, flags uintptr) {
	t.Helper()
	require.NoError(t, os.MkdirAll(at, 0o755))
	require.NoError(t, unix.Mount("tmpfs", at, "tmpfs", flags, options))
	t.Cleanup(func() { require.NoError(t, unix.Unmount(at, unix.MNT_DETACH)) })
}

func TestAFullDiskIsReportedAndGetsNoHalfFile(t *testing.T) {
	withMounts(t, func(t *testing.T) {
		h := newHost(t)
		mountTmpfs(t, h.in(""), "size=64k", 0)
		require.NoError(t, os.Mkdir(h.in(replicas), 0o755))
		require.ErrorIs(t, os.WriteFile(h.in("data"), make([]byte, 128<<10), 0o644), unix.ENOSPC)
		seen := h.look()
		require.Equal(t, "tmpfs", seen.Type)
		require.Equal(t, int64(64<<10), seen.Maximum)
		require.Zero(t, seen.Available)
		require.ErrorIs(t, h.open().Prepare(config), unix.ENOSPC)
		require.NoFileExists(t, h.in(ConfigName))
		require.NoFileExists(t, h.in(written))
		require.NoError(t, os.Remove(h.in("data")))
		require.NoError(t, h.open().Prepare(config), "it becomes a disk once there is room")
	})
}

func TestAReadOnlyDiskIsReported(t *testing.T) {
	withMounts(t, func(t *testing.T) {
		h := newHost(t)
		mountTmpfs(t, h.in(""), "", unix.MS_RDONLY)
		require.ErrorIs(t, h.open().Prepare(config), unix.EROFS)
		seen := h.look()
		require.Nil(t, seen.Config)
		require.True(t, seen.ReadOnly)
		require.False(t, newHost(t).look().ReadOnly)
	})
}

func TestWhatIsMountedBelowADiskIsNotEntered(t *testing.T) {
	withMounts(t, func(t *testing.T) {
		h := newHost(t)
		mountTmpfs(t, h.in(replicas), "", 0)
		require.NoError(t, os.Mkdir(h.in("replicas/vol-1-r-0a1b2c3d"), 0o755))
		_, err := h.open().Look()
		require.ErrorContains(t, err, "mount of another file system")

		h = newHost(t)
		h.write(ConfigName, "")
		require.NoError(t, unix.Mount(h.secret(), h.in(ConfigName), "", unix.MS_BIND, ""))
		t.Cleanup(func() { require.NoError(t, unix.Unmount(h.in(ConfigName), unix.MNT_DETACH)) })
		require.Contains(t, h.look().Unreadable, "mount of another file system")
		require.Error(t, h.open().Prepare(config))
	})
}

// A disk that is mounted, exchanged or taken away while it is open stays the one that was opened: nothing of a look or a preparation lands
// on another.
func TestADiskThatIsExchangedInMidWorkIsTheOneThatWasOpened(t *testing.T) {
	withMounts(t, func(t *testing.T) {
		h := newHost(t)
		d := h.open()
		mountTmpfs(t, h.in(""), "", 0)
		require.NoError(t, d.Prepare(config))
		require.NoFileExists(t, h.in(ConfigName), "the disk that was mounted meanwhile has nothing of it")
		require.Nil(t, h.look().Config)
		entries, err := os.ReadDir(filepath.Join(h.root, place))
		require.NoError(t, err)
		require.Empty(t, entries)
	})
}

func TestADirectoryOnAReadOnlyDiskIsNotRemoved(t *testing.T) {
	withMounts(t, func(t *testing.T) {
		h := newHost(t)
		mountTmpfs(t, h.in(""), "", 0)
		require.NoError(t, h.open().Prepare(config))
		h.fill(replica)
		require.NoError(t, unix.Mount("", h.in(""), "", unix.MS_REMOUNT|unix.MS_RDONLY, ""))
		_, err := h.remove(replica)
		require.ErrorContains(t, err, "read-only")
		require.FileExists(t, h.in("replicas/"+replica+"/volume.meta"))
	})
}

// Another file system, or another directory of the same one, is mounted in place of the directory, in it, over a file, or over all.
func TestWhatIsMountedInTheDirectoryOfAReplicaStays(t *testing.T) {
	const own, taken = "replicas/" + replica, "replicas/" + removing + uid
	withMounts(t, func(t *testing.T) {
		for name, c := range map[string]struct{ at, moved, source string }{
			"a file system in its place":   {own, own, ""},
			"a file system over all":       {replicas, replicas, ""},
			"a file system in it":          {own + "/inner", taken + "/inner", ""},
			"a directory in its place":     {own, own, "outside"},
			"a directory in it":            {own + "/inner", taken + "/inner", "outside"},
			"a file over one of its files": {own + "/volume.meta", taken + "/volume.meta", "secret"},
		} {
			t.Run(name, func(t *testing.T) {
				h := newDisk(t)
				if c.source != "secret" {
					require.NoError(t, os.MkdirAll(h.in(c.at), 0o755))
				}
				source, kept := "", filepath.Join(h.in(c.moved), "kept")
				switch c.source {
				case "":
					require.NoError(t, unix.Mount("tmpfs", h.in(c.at), "tmpfs", 0, ""))
					require.NoError(t, os.WriteFile(filepath.Join(h.in(c.at), "kept"), nil, 0o600))
				case "outside":
					source, kept = h.outside, filepath.Join(h.in(c.moved), "secret")
				case "secret":
					source, kept = h.secret(), h.in(c.moved)
				}
				if source != "" {
					require.NoError(t, unix.Mount(source, h.in(c.at), "", unix.MS_BIND, ""))
				}
				_, err := h.remove(replica)
				require.ErrorContains(t, err, "another file system")
				require.FileExists(t, kept)
				require.NoError(t, unix.Unmount(h.in(c.moved), unix.MNT_DETACH))
				_, err = h.remove(replica)
				require.NoError(t, err, "it goes on once nothing is mounted there any more")
				require.Equal(t, []string{"vol-2-99999999"}, h.names())
			})
		}
	})
}

// The disk that was opened is the disk that is changed, whatever is mounted over it meanwhile.
func TestADiskThatIsExchangedBeforeTheRemovalStays(t *testing.T) {
	withMounts(t, func(t *testing.T) {
		h := newDisk(t)
		d := h.open()
		mountTmpfs(t, h.in(""), "", 0)
		require.NoError(t, h.open().Prepare(Config{DiskName: "b", DiskUUID: other}))
		h.fill(replica)
		_, err := h.remove(replica)
		require.ErrorIs(t, err, ErrOtherDisk)
		require.FileExists(t, h.in("replicas/"+replica+"/volume.meta"))
		there, err := d.Remove(id, replica, uid, may)
		require.NoError(t, err)
		require.True(t, there, "the disk that was opened before")
		require.FileExists(t, h.in("replicas/"+replica+"/volume.meta"))
	})
}
