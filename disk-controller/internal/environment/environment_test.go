package environment

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// host is a host of a test: its root, proc and sysfs are directories.
type host struct {
	t *testing.T
	Host
}

func newHost(t *testing.T) host {
	t.Helper()
	return host{t, Host{Root: t.TempDir(), Proc: t.TempDir(), Sys: t.TempDir()}}
}

func (h host) write(directory, name, content string) {
	h.t.Helper()
	file := filepath.Join(directory, name)
	require.NoError(h.t, os.MkdirAll(filepath.Dir(file), 0o755))
	require.NoError(h.t, os.WriteFile(file, []byte(content), 0o644))
}

// condition returns a condition of the host.
func (h host) condition(conditionType string, v2 bool) v1beta2.Condition {
	h.t.Helper()
	c := conditions.Get(Evaluate(h.Look(), "node-1", v2), conditionType)
	require.NotNil(h.t, c)
	require.Contains(h.t, c.Message, "node-1", "it names the node")
	return *c
}

func TestAMountThatIsPrivateDoesNotPropagate(t *testing.T) {
	h := newHost(t)
	require.Equal(t, v1beta2.ReasonNotVisible, h.condition(v1beta2.NodeMountPropagation, false).Reason)
	mount := func(on, optional string) string {
		return "36 35 98:0 / " + h.Root + on + " rw,noatime " + optional + " - ext4 /dev/sda rw\n"
	}
	other := "40 35 98:0 / /etc/hosts rw,noatime - ext4 /dev/sda rw\n"
	for _, c := range []struct{ table, reason, text string }{
		{other + mount("/data", "master:7"), v1beta2.ReasonMountsPropagate, ""},
		{other + mount("/data", "shared:7") + mount("/usr", ""), v1beta2.ReasonMountsPropagate, ""},
		{other, v1beta2.ReasonNotVisible, "hostPaths"},
		{mount("/usr", ""), v1beta2.ReasonNotVisible, ""},
		{mount("/data", "master:7") + mount("/usr", "") + mount("/usr/local", ""), v1beta2.ReasonMountsPropagate, ""},
		{mount("/data", "master:7") + mount("/usr2", ""), v1beta2.ReasonNoMountPropagationSupport, "/usr2"},
		{mount("/data", "master:7") + mount(`/more\040data`, ""), v1beta2.ReasonNoMountPropagationSupport, "/more data"},
		{"garbage\n\n", v1beta2.ReasonNotVisible, ""},
	} {
		h.write(h.Proc, "self/mountinfo", c.table)
		got := h.condition(v1beta2.NodeMountPropagation, false)
		require.Equal(t, c.reason, got.Reason, c.table)
		require.Contains(t, got.Message, c.text)
	}
}

func TestAModuleCountsIfItIsLoadedOrBuiltIn(t *testing.T) {
	h := newHost(t)
	reason := func(v2 bool) string { return h.condition(v1beta2.NodeKernelModulesLoaded, v2).Reason }
	require.Equal(t, v1beta2.ReasonNotVisible, reason(false))
	h.write(h.Proc, "modules", "ext4 1024 2 - Live 0x0000\n")
	require.Equal(t, v1beta2.ReasonNotVisible, reason(false), "it may be built in")
	require.Contains(t, h.condition(v1beta2.NodeKernelModulesLoaded, false).Message, "checkNode")
	builtIn := "usr/lib/modules/6.1.0-test/modules.builtin"
	h.write(h.Proc, "sys/kernel/osrelease", "6.1.0-test\n")
	h.write(h.Root, builtIn, "")
	require.Equal(t, v1beta2.ReasonKernelModulesNotLoaded, reason(false))
	require.Contains(t, h.condition(v1beta2.NodeKernelModulesLoaded, false).Message, "modprobe -a dm_crypt on")
	h.write(h.Proc, "modules", "ext4 1024 2 - Live 0x0000\ndm_crypt 65536 0 - Live 0x0000\n")
	require.Equal(t, v1beta2.ReasonModulesLoaded, reason(false))
	require.Equal(t, v1beta2.ReasonKernelModulesNotLoaded, reason(true))
	require.Contains(t, h.condition(v1beta2.NodeKernelModulesLoaded, true).Message, "modprobe -a vfio_pci uio_pci_generic nvme_tcp on")
	h.write(h.Root, builtIn, "kernel/drivers/vfio/pci/vfio-pci.ko\nkernel/drivers/uio/uio_pci_generic.ko\n")
	h.write(h.Sys, "module/nvme_tcp/refcnt", "0")
	require.Equal(t, v1beta2.ReasonModulesLoaded, reason(true))
}

func TestProgramsAreLookedForAndTheirPackagesAreNamed(t *testing.T) {
	h := newHost(t)
	packages := func() v1beta2.Condition { return h.condition(v1beta2.NodeRequiredPackages, false) }
	require.Equal(t, v1beta2.ConditionUnknown, packages().Status)
	h.write(h.Root, "usr/bin/cryptsetup", "")
	for text, named := range map[string]string{"ID=ubuntu\nID_LIKE=debian\n": "(package nfs-common)",
		"ID=\"rocky\"\nID_LIKE=\"rhel centos\"\n":           "(package nfs-utils)",
		"ID=\"opensuse-leap\"\nID_LIKE=\"suse opensuse\"\n": "(package nfs-client)", "ID=plan9\n": "mount.nfs,"} {
		h.write(h.Root, "usr/lib/os-release", text)
		require.Equal(t, v1beta2.ReasonPackagesNotInstalled, packages().Reason)
		require.Contains(t, packages().Message, named)
		require.NotContains(t, packages().Message, "cryptsetup")
	}
	for _, name := range []string{"iscsiadm", "dmsetup"} {
		h.write(h.Root, "usr/sbin/"+name, "")
	}
	require.NoError(t, os.Symlink("/etc/alternatives/mount.nfs", filepath.Join(h.Root, "usr/sbin/mount.nfs")))
	require.Equal(t, v1beta2.ReasonPackagesInstalled, packages().Reason, "a link counts, wherever it leads")
}

// A host may be hostile: a link that leads out of it is not followed, and a file without an end is not read to its end.
func TestNothingOutsideOfTheHostIsRead(t *testing.T) {
	h, outside := newHost(t), t.TempDir()
	h.write(outside, "os-release", "ID=debian\n")
	h.write(h.Root, "usr/bin/x", "")
	require.NoError(t, os.MkdirAll(filepath.Join(h.Root, "usr/lib"), 0o755))
	release := filepath.Join(h.Root, "usr/lib/os-release")
	require.NoError(t, os.Symlink(filepath.Join(outside, "os-release"), release))
	require.Empty(t, h.Look().Family)
	require.NoError(t, os.Remove(release))
	require.NoError(t, unix.Mkfifo(release, 0o644))
	require.Empty(t, h.Look().Family)
	require.NoError(t, os.Remove(release))
	h.write(h.Root, "usr/lib/os-release", strings.Repeat("#", 2*mostBytes)+"\nID=debian\n")
	require.Empty(t, h.Look().Family)
}
