package directory

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
)

const (
	replica = "vol-1-0a1b2c3d"
	uid     = "cccc3333-0000-4000-8000-000000000003"
)

// newDisk returns a host with a prepared disk, which has the directories of two replicas.
func newDisk(t *testing.T) host {
	t.Helper()
	h := newHost(t)
	require.NoError(t, h.open().Prepare(config))
	h.fill(replica)
	h.fill("vol-2-99999999")
	return h
}

// fill makes the directory of a replica with the files of one.
func (h host) fill(name string) {
	h.t.Helper()
	require.NoError(h.t, os.MkdirAll(h.in("replicas/"+name), 0o700))
	for _, file := range []string{"volume.meta", "volume-head-000.img", "volume-head-000.img.meta", "revision.counter"} {
		h.write("replicas/"+name+"/"+file, "data")
	}
}

func (h host) remove(name string) (bool, error) {
	h.t.Helper()
	return h.open().Remove(id, name, uid, may)
}

func may() error { return nil }

// names returns the directories of replicas.
func (h host) names() []string {
	h.t.Helper()
	entries, err := os.ReadDir(h.in(replicas))
	require.NoError(h.t, err)
	var out []string
	for _, e := range entries {
		out = append(out, e.Name())
	}
	return out
}

func TestTheDirectoryOfAReplicaIsRemovedAndNoOther(t *testing.T) {
	h := newDisk(t)
	there, err := h.remove(replica)
	require.NoError(t, err)
	require.True(t, there)
	require.Equal(t, []string{"vol-2-99999999"}, h.names())
	require.Equal(t, &config, h.look().Config)

	there, err = h.remove(replica)
	require.NoError(t, err)
	require.False(t, there, "nothing is left")

	require.NoError(t, os.RemoveAll(h.in(replicas)))
	there, err = h.remove(replica)
	require.NoError(t, err)
	require.False(t, there)
}

func TestAReplicaWithManyFilesAndDirectoriesIsRemoved(t *testing.T) {
	h := newDisk(t)
	for i := range 1000 {
		h.write(fmt.Sprintf("replicas/%s/volume-snap-%d.img", replica, i), "")
	}
	require.NoError(t, os.MkdirAll(h.in("replicas/"+replica+"/a/b/c"), 0o700))
	h.write("replicas/"+replica+"/a/b/c/file", "")
	_, err := h.remove(replica)
	require.NoError(t, err)
	require.Equal(t, []string{"vol-2-99999999"}, h.names())

	h.fill(replica)
	require.NoError(t, os.MkdirAll(h.in("replicas/"+replica+strings.Repeat("/d", deepest+2)), 0o700))
	_, err = h.remove(replica)
	require.ErrorContains(t, err, "too deep")
}

// Whatever a Replica names: only a directory right below replicas is removed.
func TestANameThatIsNoDirectoryOfAReplicaRemovesNothing(t *testing.T) {
	h := newDisk(t)
	before := h.names()
	for _, name := range []string{"", ".", "..", "../outside", "a-b/../vol-2-99999999", replica + "/", "/" + replica, "nohyphen",
		".removing-" + uid, "-\x00", strings.Repeat("a-", 200)} {
		there, err := h.remove(name)
		require.ErrorContains(t, err, "is not the directory of a replica", "%q", name)
		require.False(t, there)
	}
	for _, uid := range []string{"", "../../x", "cccc3333-0000-4000-8000-00000000000/"} {
		_, err := h.open().Remove(id, replica, uid, may)
		require.ErrorContains(t, err, "is not the UID", "%q", uid)
	}
	require.Equal(t, before, h.names())
}

// A disk that was exchanged, unmounted, or is another cluster's, has another file, or none.
func TestNothingIsRemovedFromAnotherDisk(t *testing.T) {
	for name, spoil := range map[string]func(h host){
		"another UUID":           func(h host) { h.write(ConfigName, `{"diskUUID":"`+other+`"}`) },
		"no file":                func(h host) { require.NoError(t, os.Remove(h.in(ConfigName))) },
		"a file that is no JSON": func(h host) { h.write(ConfigName, "{") },
		"a link to another file": func(h host) {
			require.NoError(t, errors.Join(os.Remove(h.in(ConfigName)), os.Symlink(h.secret(), h.in(ConfigName))))
		},
		"an empty recorded UUID":  func(h host) { h.write(ConfigName, `{"diskUUID":""}`) },
		"the UUID with an ending": func(h host) { h.write(ConfigName, `{"diskUUID":"`+id+`0"}`) },
	} {
		t.Run(name, func(t *testing.T) {
			h := newDisk(t)
			before := h.names()
			spoil(h)
			_, err := h.remove(replica)
			require.ErrorIs(t, err, ErrOtherDisk)
			require.Equal(t, before, h.names())
		})
	}
	h := newDisk(t)
	_, err := h.open().Remove("", replica, uid, may)
	require.ErrorIs(t, err, ErrOtherDisk)
}

func TestALinkIsNeverFollowed(t *testing.T) {
	for name, c := range map[string]struct {
		attack func(t *testing.T, h host)
		fails  string
	}{
		"the directory is a link to one outside": {func(t *testing.T, h host) {
			require.NoError(t, os.RemoveAll(h.in("replicas/"+replica)))
			require.NoError(t, os.Symlink(h.outside, h.in("replicas/"+replica)))
		}, "symbolic link"},
		"the directory is a link to another one": {func(t *testing.T, h host) {
			require.NoError(t, os.RemoveAll(h.in("replicas/"+replica)))
			require.NoError(t, os.Symlink("vol-2-99999999", h.in("replicas/"+replica)))
		}, "symbolic link"},
		"the directory is a file": {func(t *testing.T, h host) {
			require.NoError(t, os.RemoveAll(h.in("replicas/"+replica)))
			h.write("replicas/"+replica, "")
		}, "not a directory"},
		"the name of the removal is a link": {func(t *testing.T, h host) {
			require.NoError(t, os.Symlink(h.outside, h.in("replicas/"+removing+uid)))
		}, "symbolic link"},
		"replicas is a link to a directory outside": {func(t *testing.T, h host) {
			require.NoError(t, os.Rename(h.in(replicas), h.in("kept")))
			require.NoError(t, os.Mkdir(filepath.Join(h.outside, replica), 0o755))
			require.NoError(t, os.Symlink(h.outside, h.in(replicas)))
			t.Cleanup(func() { require.NoError(t, os.Remove(filepath.Join(h.outside, replica))) })
		}, "symbolic link"},
		"a file in it is a link to a file outside": {func(t *testing.T, h host) {
			require.NoError(t, os.Symlink(h.secret(), h.in("replicas/"+replica+"/volume-snap-a.img")))
		}, ""},
		"a file in it is a link to a directory outside": {func(t *testing.T, h host) {
			require.NoError(t, os.Symlink(h.outside, h.in("replicas/"+replica+"/volume-snap-a.img")))
		}, ""},
		"a file in it is another name of a file outside": {func(t *testing.T, h host) {
			require.NoError(t, os.Link(h.secret(), h.in("replicas/"+replica+"/volume-snap-a.img")))
		}, ""},
		"a file in it is a pipe": {func(t *testing.T, h host) {
			require.NoError(t, unix.Mkfifo(h.in("replicas/"+replica+"/volume-snap-a.img"), 0o600))
		}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			h := newDisk(t)
			c.attack(t, h)
			there, err := h.remove(replica)
			if c.fails == "" {
				require.NoError(t, err)
				require.True(t, there)
				require.NoDirExists(t, h.in("replicas/"+replica))
			} else {
				require.ErrorContains(t, err, c.fails)
			}
			if name != "replicas is a link to a directory outside" {
				require.FileExists(t, h.in("replicas/vol-2-99999999/volume.meta"))
			}
		})
	}
}

// The directory is exchanged for another one between the look and the renaming.
func TestADirectoryThatTakesThePlaceOfAnotherOneIsPutBack(t *testing.T) {
	h := newDisk(t)
	exchange := func() error {
		return errors.Join(os.Rename(h.in("replicas/"+replica), h.in("kept")),
			os.Rename(h.in("replicas/vol-2-99999999"), h.in("replicas/"+replica)))
	}
	_, err := h.open().Remove(id, replica, uid, exchange)
	require.ErrorIs(t, err, ErrMoved)
	require.Equal(t, []string{replica}, h.names())
	require.FileExists(t, h.in("replicas/"+replica+"/volume.meta"))
	require.FileExists(t, h.in("kept/volume.meta"))
}

func TestARemovalThatMayNotBeginAnyMoreChangesNothing(t *testing.T) {
	h := newDisk(t)
	before := h.names()
	late := errors.New("too late")
	_, err := h.open().Remove(id, replica, uid, func() error { return late })
	require.ErrorIs(t, err, late)
	require.Equal(t, before, h.names())
}

func TestTheRemainsOfAnEarlierAttemptAreRemovedFirst(t *testing.T) {
	h := newDisk(t)
	require.NoError(t, os.Rename(h.in("replicas/"+replica), h.in("replicas/"+removing+uid)))
	h.fill(replica) // as an instance that started meanwhile does
	there, err := h.remove(replica)
	require.NoError(t, err)
	require.True(t, there)
	require.Equal(t, []string{"vol-2-99999999"}, h.names())
}

var errCrash = errors.New("the process died here")

// crash ends the work before or after one call that writes.
type crash struct {
	at    int
	after bool
	calls []string
	dead  bool
}

func (c *crash) do(call string, do func() error) error {
	if c.dead {
		return errCrash
	}
	c.calls = append(c.calls, call)
	here := len(c.calls) == c.at
	if here && !c.after {
		c.dead = true
		return errCrash
	}
	err := do()
	if here {
		c.dead = true
		return errCrash
	}
	return err
}

// A process that dies before or after any call leaves a directory that is whole under its name, or remains that the next attempt removes.
func TestARemovalThatIsInterruptedAnywhereIsFinished(t *testing.T) {
	whole := &crash{}
	h := newDisk(t)
	d, err := At(h.root).Interrupted(whole.do).Open(place)
	require.NoError(t, err)
	_, err = d.Remove(id, replica, uid, may)
	require.NoError(t, err)
	d.Close()
	require.Equal(t, []string{"rename", "fsync", "unlink", "unlink", "unlink", "unlink", "unlink", "fsync"}, whole.calls)
	for at := range len(whole.calls) {
		for _, after := range []bool{false, true} {
			h := newDisk(t)
			c := &crash{at: at + 1, after: after}
			d, err := At(h.root).Interrupted(c.do).Open(place)
			require.NoError(t, err)
			_, err = d.Remove(id, replica, uid, may)
			require.ErrorIs(t, err, errCrash)
			d.Close()
			if _, err := os.Stat(h.in("replicas/" + replica)); err == nil {
				entries, err := os.ReadDir(h.in("replicas/" + replica))
				require.NoError(t, err)
				require.Len(t, entries, 4, "a directory with its name is whole")
			}
			there, err := h.remove(replica)
			require.NoError(t, err)
			require.Equal(t, at < 6 || at == 6 && !after, there, "at %d, after %v", at, after)
			require.Equal(t, []string{"vol-2-99999999"}, h.names())
			require.FileExists(t, h.in("replicas/vol-2-99999999/volume.meta"))
		}
	}
}

func TestNothingIsUnlinkedBeforeTheRenamingIsOnTheDevice(t *testing.T) {
	h := newDisk(t)
	d, err := At(h.root).Interrupted(func(call string, do func() error) error {
		if call == "fsync" {
			return unix.EIO
		}
		return do()
	}).Open(place)
	require.NoError(t, err)
	defer d.Close()
	_, err = d.Remove(id, replica, uid, may)
	require.ErrorIs(t, err, unix.EIO)
	require.FileExists(t, h.in("replicas/"+removing+uid+"/volume.meta"))
}
