package engineimage

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// container runs the command of the DaemonSet's container by a real bash, with its two places below a directory of the test.
func container(t *testing.T) (inImage, onHost string, run func() *exec.Cmd) {
	t.Helper()
	root := t.TempDir()
	inImage, onHost = filepath.Join(root, "image", "longhorn"), filepath.Join(root, "host", "longhorn")
	require.NoError(t, os.MkdirAll(filepath.Dir(inImage), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Dir(onHost), 0o755))
	require.NoError(t, os.WriteFile(inImage, []byte("#!/bin/sh\necho new\n"), 0o755))
	past := time.Now().Add(-time.Hour).Truncate(time.Second)
	require.NoError(t, os.Chtimes(inImage, past, past))
	script := strings.NewReplacer(binaryInImage, inImage, binaryOnHost, onHost).Replace(install)
	return inImage, onHost, func() *exec.Cmd {
		c := exec.Command("/bin/bash", "-c", script)
		c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		require.NoError(t, c.Start())
		t.Cleanup(func() { _ = syscall.Kill(-c.Process.Pid, syscall.SIGKILL) })
		return c
	}
}

func content(file string) string {
	raw, _ := os.ReadFile(file)
	return string(raw)
}

func TestTheContainerCopiesTheBinaryAndTakesItAwayAtItsEnd(t *testing.T) {
	inImage, onHost, run := container(t)
	require.NoError(t, os.WriteFile(onHost, []byte("#!/bin/sh\necho old\n"), 0o755))
	open, err := os.Open(onHost)
	require.NoError(t, err)
	defer func() { require.NoError(t, open.Close()) }()
	c := run()
	require.Eventually(t, func() bool { return content(onHost) == content(inImage) }, 10*time.Second, 5*time.Millisecond)
	source, err := os.Stat(inImage)
	require.NoError(t, err)
	copied, err := os.Stat(onHost)
	require.NoError(t, err)
	require.Equal(t, source.Mode(), copied.Mode())
	require.Equal(t, source.ModTime(), copied.ModTime())
	old := make([]byte, 64)
	n, err := open.Read(old)
	require.NoError(t, err)
	require.Equal(t, "#!/bin/sh\necho old\n", string(old[:n]), "who has the old binary open keeps it")

	require.NoError(t, c.Process.Signal(syscall.SIGTERM))
	require.NoError(t, c.Wait())
	left, err := filepath.Glob(onHost + "*")
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestABinaryThatIsThereIsNotCopiedAgain(t *testing.T) {
	inImage, onHost, run := container(t)
	require.NoError(t, os.WriteFile(onHost, []byte(content(inImage)), 0o755))
	before, err := os.Stat(onHost)
	require.NoError(t, err)
	c := run()
	// The loop begins after the comparison: its sleep is the only child.
	require.Eventually(t, func() bool {
		return exec.Command("pgrep", "-P", pid(c), "sleep").Run() == nil
	}, 10*time.Second, 5*time.Millisecond)
	after, err := os.Stat(onHost)
	require.NoError(t, err)
	require.True(t, os.SameFile(before, after))
}

// A half copied file is never under the binary's name.
func TestACopyThatFailsEndsTheContainer(t *testing.T) {
	inImage, onHost, run := container(t)
	require.NoError(t, os.Remove(inImage))
	require.NoError(t, os.WriteFile(onHost, []byte("another"), 0o755))
	require.Error(t, run().Wait())
	require.NoFileExists(t, onHost)
}
