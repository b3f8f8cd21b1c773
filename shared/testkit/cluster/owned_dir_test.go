package cluster

import (
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestASweepTakesOnlyWhatNobodyOwns(t *testing.T) {
	base := t.TempDir()
	owned, err := newOwnedDir(base)
	require.NoError(t, err)
	defer func() { require.NoError(t, owned.remove()) }()
	abandoned := abandonedDir(t, base, "abandoned")
	young := abandonedDir(t, base, "young")
	require.NoError(t, os.Chtimes(young, time.Now(), time.Now()))
	foreign := filepath.Join(base, "somebody-elses")
	require.NoError(t, os.Mkdir(foreign, 0o700))
	age(t, owned.path)
	age(t, foreign)

	sweep(base)
	require.NoDirExists(t, abandoned)
	require.DirExists(t, owned.path, "its owner lives")
	require.DirExists(t, young, "its owner may be about to lock it")
	require.DirExists(t, foreign)
}

func TestASweepKillsARecordedServerButNotAProcessThatInheritedItsNumber(t *testing.T) {
	base := t.TempDir()
	abandoned := abandonedDir(t, base, "abandoned")
	server := record(t, abandoned, "server", "--data-dir="+abandoned)
	previous := record(t, abandoned, "foreign", "--data-dir=elsewhere")
	age(t, abandoned)

	sweep(base)
	require.NoDirExists(t, abandoned)
	require.Error(t, server.Wait(), "killed")
	require.NoError(t, previous.Process.Signal(syscall.Signal(0)), "alive")
	require.NoError(t, previous.Process.Kill())
	require.Error(t, previous.Wait())
}

// abandonedDir is what a killed owner with a killed watchdog leaves behind.
func abandonedDir(t *testing.T, base, name string) string {
	t.Helper()
	dir := filepath.Join(base, dirPrefix+name)
	require.NoError(t, os.MkdirAll(filepath.Join(dir, "etcd"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, ownerFile), nil, 0o600))
	age(t, dir)
	return dir
}

func age(t *testing.T, path string) {
	t.Helper()
	past := time.Now().Add(-time.Hour)
	require.NoError(t, os.Chtimes(path, past, past))
}

// record runs a process with this argument and records it as a server of the directory.
func record(t *testing.T, dir, name, argument string) *exec.Cmd {
	t.Helper()
	command := exec.Command("/bin/sh", "-c", "read -r _", name, argument)
	input, err := command.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, command.Start())
	t.Cleanup(func() { _ = input.Close() })
	pid := strconv.Itoa(command.Process.Pid)
	require.NoError(t, os.WriteFile(filepath.Join(dir, name+".pid"), []byte(pid), 0o600))
	return command
}
