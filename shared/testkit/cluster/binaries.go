package cluster

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

const assetsVariable = "KUBEBUILDER_ASSETS"

// etcdRunfile is where etcd is below the runfiles of a Bazel test, the other servers beside it; Bazel's linker sets it.
var etcdRunfile string

// Binaries are the commands of the servers, each as program and first arguments. ControllerManager may be nil.
type Binaries struct {
	Etcd, APIServer, ControllerManager []string
}

// Locate finds the servers' binaries: among the inputs of a Bazel test; in the directory that KUBEBUILDER_ASSETS names; else in the cache;
// else it downloads them with setup-envtest; else it builds them from Go modules, once, into the cache. A place without
// kube-controller-manager is passed over when that is needed. Long steps are reported on progress.
func Locate(ctx context.Context, controllerManager bool, progress io.Writer) (Binaries, error) {
	if runfiles := os.Getenv("TEST_SRCDIR"); runfiles != "" && etcdRunfile != "" {
		return binariesIn(filepath.Dir(filepath.Join(runfiles, etcdRunfile)), controllerManager)
	}
	if dir := os.Getenv(assetsVariable); dir != "" {
		binaries, err := binariesIn(dir, controllerManager)
		if err == nil {
			return binaries, nil
		}
		if !controllerManager {
			return Binaries{}, fmt.Errorf("%s: %w", assetsVariable, err)
		}
		_, _ = fmt.Fprintf(progress, "%s is passed over: %v\n", assetsVariable, err)
	}
	dir, err := cached(ctx, controllerManager, progress)
	if err != nil {
		return Binaries{}, err
	}
	return binariesIn(dir, controllerManager)
}

// binariesIn searches for the servers in a directory under their usual names.
func binariesIn(dir string, controllerManager bool) (Binaries, error) {
	var found Binaries
	for name, command := range map[string]*[]string{
		"etcd": &found.Etcd, "kube-apiserver": &found.APIServer, "kube-controller-manager": &found.ControllerManager,
	} {
		path := filepath.Join(dir, name)
		info, err := os.Stat(path)
		if err == nil && (info.IsDir() || info.Mode().Perm()&0o111 == 0) {
			err = fmt.Errorf("%s is no program", path)
		}
		if err != nil && (controllerManager || name != "kube-controller-manager") {
			return Binaries{}, fmt.Errorf("searching for %s: %w", name, err)
		}
		if err == nil {
			*command = []string{path}
		}
	}
	return found, nil
}
