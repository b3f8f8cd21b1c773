// Package architecture holds the structure of the repository: what may import what, and who may write what.
package architecture

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/testkit/cluster"
)

const module = "drover.dev/drover/"

// root is the directory of the sources.
var root string

func TestMain(m *testing.M) {
	found, err := cluster.SourceRoot()
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	root = found
	os.Exit(m.Run())
}

// binaries are the deployables. The simulator is not one of them: it belongs to the data plane.
var binaries = []string{"api-gateway", "attach-controller", "disk-controller", "im-monitor", "orphan-controller", "snapshot-controller",
	"upgrade-controller"}

// plugin is what operators run on their own machines: it is no controller.
const plugin = "kubectl-drover"

// A concern that has a reconciler, such as ticket with ticketcontroller, is a pure core: it imports no client and no transport.
// These are pure cores, too: their reconcilers have other names.
var moreCores = []string{
	"api-gateway/internal/present", "api-gateway/internal/settings", "api-gateway/internal/wire",
	"attach-controller/internal/placement",
	"kubectl-drover/internal/attachment", "kubectl-drover/internal/bundle", "kubectl-drover/internal/doctor",
	"kubectl-drover/internal/finding",
	"kubectl-drover/internal/orphans", "kubectl-drover/internal/snapshots", "kubectl-drover/internal/status", "kubectl-drover/internal/tree",
	"kubectl-drover/internal/upgrade", "kubectl-drover/internal/why", "kubectl-drover/internal/world",
	"im-monitor/internal/enginesnapshot", "im-monitor/internal/mapping",
	"orphan-controller/internal/orphan", "orphan-controller/internal/setting",
	"shared/volumesnapshot", "shared/volumeusers", "snapshot-controller/internal/webhook",
	"shared/upgrade/cluster", "upgrade-controller/internal/nodeupgrade", "upgrade-controller/internal/plan",
	"shared/upgrade/preflight",
}

// eventful are as pure but for shared/events, by which they name their events, and with which client-go comes along.
var eventful = []string{"im-monitor/internal/instance", "im-monitor/internal/instancemanager", "im-monitor/internal/node"}

// cores finds the packages that have a reconciler, so that a new concern must be pure without an entry in a list.
func cores(t *testing.T) []string {
	t.Helper()
	reconcilers, err := filepath.Glob(filepath.Join(root, "*", "internal", "?*controller"))
	require.NoError(t, err)
	found := slices.Clone(moreCores)
	for _, reconciler := range reconcilers {
		name, err := filepath.Rel(root, strings.TrimSuffix(reconciler, "controller"))
		require.NoError(t, err)
		files, err := filepath.Glob(filepath.Join(root, name, "*.go"))
		require.NoError(t, err)
		if len(files) > 0 && !slices.Contains(eventful, filepath.ToSlash(name)) {
			found = append(found, filepath.ToSlash(name))
		}
	}
	require.Greater(t, len(found), len(moreCores))
	return found
}

func deps(t *testing.T, pattern string) []string {
	t.Helper()
	return strings.Fields(goList(t, "-deps", module+pattern))
}

// reach returns the packages that a binary is made of, as the build system that runs this test sees it.
func reach(t *testing.T, binary string) []string {
	t.Helper()
	if os.Getenv("TEST_SRCDIR") == "" {
		return deps(t, binary)
	}
	labels, err := os.ReadFile(binary + "_deps") // written by a genquery
	require.NoError(t, err)
	var packages []string
	for _, label := range strings.Fields(string(labels)) {
		pkg, _, _ := strings.Cut(label, ":")
		switch {
		case strings.HasPrefix(pkg, "//"):
			packages = append(packages, module+strings.TrimPrefix(pkg, "//"))
		case strings.HasSuffix(pkg, "org_golang_google_grpc//"):
			packages = append(packages, "google.golang.org/grpc")
		}
	}
	require.Contains(t, packages, module+binary)
	return packages
}

func goList(t *testing.T, arguments ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", append([]string{"list"}, arguments...)...)
	command.Dir = root
	var output strings.Builder
	command.Stderr = &output
	out, err := command.Output()
	require.NoError(t, err, "go list %s: %s", arguments, output.String())
	return string(out)
}

// One binary speaks to the data plane, so that one Role, one certificate and one component is responsible for it.
func TestOnlyIMMonitorReachesGRPC(t *testing.T) {
	for _, binary := range binaries {
		reaches := slices.Contains(reach(t, binary), "google.golang.org/grpc")
		require.Equal(t, binary == "im-monitor", reaches, "%s links google.golang.org/grpc: %v", binary, reaches)
	}
}

func TestSharedNeverReachesGRPCNorAController(t *testing.T) {
	for _, path := range deps(t, "shared/...") {
		require.NotEqual(t, "google.golang.org/grpc", path)
		for _, binary := range binaries {
			require.False(t, strings.HasPrefix(path, module+binary), "shared imports %s", path)
		}
	}
}

// Rollouts are independent only while no binary carries another's code.
func TestNoControllerImportsAnother(t *testing.T) {
	for _, binary := range binaries {
		for _, path := range reach(t, binary) {
			for _, other := range binaries {
				require.False(t, other != binary && strings.HasPrefix(path, module+other), "%s imports %s", binary, path)
			}
		}
	}
}

// The plugin shows what the API server has. It must work with any version of the controllers, and with nothing but a kubeconfig.
func TestThePluginReachesNoControllerAndNoDataPlane(t *testing.T) {
	for _, path := range deps(t, plugin) {
		require.NotEqual(t, "google.golang.org/grpc", path)
		for _, binary := range binaries {
			require.False(t, strings.HasPrefix(path, module+binary), "the plugin imports %s", path)
		}
	}
}

func TestThePureCoresImportNoClient(t *testing.T) {
	forbidden := []string{"k8s.io/client-go", "sigs.k8s.io/controller-runtime", "google.golang.org/grpc", module + "shared/status", module +
		"shared/runkit"}
	for _, core := range cores(t) {
		for _, path := range deps(t, core) {
			for _, prefix := range forbidden {
				require.False(t, path == prefix || strings.HasPrefix(path, prefix+"/"), "%s imports %s", core, path)
			}
		}
	}
}

// The façades exist for the model test alone.
func TestOnlyTheModelImportsTheFacadesOfTheCores(t *testing.T) {
	out := goList(t, "-f", `{{.ImportPath}}{{range .Imports}} {{.}}{{end}}{{range .TestImports}} {{.}}{{end}}{{range .XTestImports}} {{.}}{{end}}`, module+"...")
	for _, line := range strings.Split(strings.TrimSpace(out), "\n") {
		fields := strings.Fields(line)
		for _, imported := range fields[1:] {
			if strings.HasSuffix(imported, "/model") && !strings.HasSuffix(imported, "/internal/model") &&
				strings.HasPrefix(imported, module) {
				require.Equal(t, module+"e2e/model", fields[0], "%s imports %s", fields[0], imported)
			}
		}
	}
}
