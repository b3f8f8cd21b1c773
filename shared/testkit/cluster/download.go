package cluster

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"time"
)

const (
	setupEnvtest = "sigs.k8s.io/controller-runtime/tools/setup-envtest@v0.25.1"
	// downloadMinor is the Kubernetes minor version that is built otherwise.
	downloadMinor = "1.36"
	// downloadTimeout is long enough for the 60 MB on a fast connection, and little beside the build that follows.
	downloadTimeout = 30 * time.Second
)

// download lets setup-envtest fetch etcd and kube-apiserver into <root>/k8s. Without a network it fails in seconds. It
// is tried only where the alternative is the build, and it never brings kube-controller-manager.
func download(ctx context.Context, root string, progress io.Writer) error {
	_, _ = fmt.Fprintf(progress, "searching for Kubernetes %s to download with setup-envtest, %s at most\n",
		downloadMinor, downloadTimeout)
	ctx, cancel := context.WithTimeout(ctx, downloadTimeout)
	defer cancel()
	command := exec.CommandContext(ctx, "go", "run", setupEnvtest, "use", downloadMinor+".x", "--bin-dir", root, "-p", "path")
	command.Dir = root // outside of any module
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) } // `go run` and its child
	output, err := command.CombinedOutput()
	if err != nil {
		_, _ = fmt.Fprintf(progress, "  not downloaded: %s\n", lastWords(string(output), err))
	}
	return err
}

// lastWords is the last output of a command before `go run` adds its exit status.
func lastWords(output string, err error) string {
	lines := strings.Split(strings.TrimSpace(output), "\n")
	for _, line := range slices.Backward(lines) {
		if line != "" && !strings.HasPrefix(line, "exit status") {
			return line
		}
	}
	return err.Error()
}

// downloaded returns the directory that setup-envtest filled, or nothing. An interrupted download lacks a program.
func downloaded(root string) string {
	pattern := fmt.Sprintf("%s.*-%s-%s", downloadMinor, runtime.GOOS, runtime.GOARCH)
	dirs, _ := filepath.Glob(filepath.Join(root, "k8s", pattern))
	for _, dir := range dirs {
		if _, err := binariesIn(dir, false); err == nil {
			return dir
		}
	}
	return ""
}
