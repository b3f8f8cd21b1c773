package nodecontroller

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/setting"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/cut"
)

// modules writes the kernel's list of loaded modules; it has none built in.
func (e *env) modules(names ...string) {
	e.t.Helper()
	list := ""
	for _, name := range names {
		list += name + " 4096 0 - Live 0x0\n"
	}
	release, builtIn := filepath.Join(e.host.Proc, "sys/kernel"), filepath.Join(e.host.Root, "usr/lib/modules/6.1.0-test")
	require.NoError(e.t, errors.Join(os.MkdirAll(release, 0o755), os.MkdirAll(builtIn, 0o755)))
	require.NoError(e.t, os.WriteFile(filepath.Join(release, "osrelease"), []byte("6.1.0-test\n"), 0o644))
	require.NoError(e.t, os.WriteFile(filepath.Join(builtIn, "modules.builtin"), nil, 0o644))
	fresh := filepath.Join(e.host.Proc, "modules.new")
	require.NoError(e.t, os.WriteFile(fresh, []byte(list), 0o644))
	require.NoError(e.t, os.Rename(fresh, filepath.Join(e.host.Proc, "modules")))
}

func (e *env) awaitReason(n *v1beta2.Node, conditionType, reason string) *v1beta2.Node {
	e.t.Helper()
	return e.await(n, conditionType+" with "+reason, func(n *v1beta2.Node) bool {
		return conditions.Reason(n.Status.Conditions, conditionType) == reason
	})
}

// Conditions of im-monitor, and those that Longhorn's manager left and that nobody checks now, stay as they are.
func TestWhatTheNodeLacksIsReportedUntilItIsThere(t *testing.T) {
	e := newEnv(t)
	e.period = 50 * time.Millisecond
	e.modules("ext4")
	n := e.node(nil)
	left := []any{map[string]any{"type": "Ready", "status": "True"}, map[string]any{"type": "Multipathd", "status": "True"},
		map[string]any{"type": "KernelModulesLoaded", "status": "True"}}
	require.NoError(t, status.MergeStatus(t.Context(), e.admin, n, map[string]any{"conditions": left}))
	e.start(cut.Point{})
	n = e.awaitReason(n, v1beta2.NodeKernelModulesLoaded, v1beta2.ReasonKernelModulesNotLoaded)
	require.True(t, conditions.IsTrue(n.Status.Conditions, "Ready"))
	require.True(t, conditions.IsTrue(n.Status.Conditions, "Multipathd"))
	require.Equal(t, v1beta2.ReasonNotVisible, conditions.Reason(n.Status.Conditions, v1beta2.NodeRequiredPackages))
	e.modules("ext4", "dm_crypt")
	e.awaitReason(n, v1beta2.NodeKernelModulesLoaded, v1beta2.ReasonModulesLoaded)
	e.set("v2-data-engine", "true")
	n = e.awaitReason(n, v1beta2.NodeKernelModulesLoaded, v1beta2.ReasonKernelModulesNotLoaded)
	require.Contains(t, conditions.Get(n.Status.Conditions, v1beta2.NodeKernelModulesLoaded).Message, "vfio_pci")
}

func TestAQuietNodeIsCheckedWithoutAWrite(t *testing.T) {
	e := newEnv(t)
	e.period = 10 * time.Millisecond
	e.modules("dm_crypt")
	n := e.node(nil)
	p := e.start(cut.Point{})
	e.awaitReason(n, v1beta2.NodeKernelModulesLoaded, v1beta2.ReasonModulesLoaded)
	before := testkit.Reconciles(t, "node")
	require.Eventually(t, func() bool { return testkit.Reconciles(t, "node") >= before+20 }, time.Minute, testkit.Poll)
	require.Len(t, p.Client.Writes(), 1, "%v", p.Client.Writes())
}

// Between two checks, a change of the Node or of a setting causes no look at the host.
func TestTheHostIsCheckedOnceInAPeriod(t *testing.T) {
	e := newEnv(t)
	e.modules()
	e.kubernetes(nil, nil)
	n := e.node(nil)
	e.start(cut.Point{})
	e.awaitReason(n, v1beta2.NodeKernelModulesLoaded, v1beta2.ReasonKernelModulesNotLoaded)
	e.modules("dm_crypt")
	e.set(setting.DefaultDiskReserved, "20")
	e.tag(`["fast"]`)
	n = e.await(n, "the tag", func(n *v1beta2.Node) bool { return len(n.Spec.Tags) > 0 })
	require.Equal(t, v1beta2.ReasonKernelModulesNotLoaded, conditions.Reason(n.Status.Conditions, v1beta2.NodeKernelModulesLoaded))
}
