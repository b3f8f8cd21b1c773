package managerimage_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/managerimage"
	"drover.dev/drover/shared/managerimage/scripts"
)

// all are settings that use each option there is.
var all = managerimage.Options{CPUMask: "0x3", Cores: 2, MemoryMiB: 1024, InterruptMode: true, LargePool: 4096,
	SmallPool: 16384, Isolate: true}

func settings() map[string]managerimage.Options {
	with := func(change func(*managerimage.Options)) managerimage.Options {
		o := managerimage.Options{CPUMask: "0x3", MemoryMiB: 2048, HugePages: true, LargePool: 1024, SmallPool: 8192}
		change(&o)
		return o
	}
	return map[string]managerimage.Options{
		"defaults":       with(func(*managerimage.Options) {}),
		"a list of CPUs": with(func(o *managerimage.Options) { o.CPUMask = "[0,2]" }),
		"no huge pages":  with(func(o *managerimage.Options) { o.HugePages = false }),
		"interrupts":     with(func(o *managerimage.Options) { o.InterruptMode = true }),
		"cores":          with(func(o *managerimage.Options) { o.Cores = 2 }),
		"isolation":      with(func(o *managerimage.Options) { o.Isolate = true }),
		"pools":          with(func(o *managerimage.Options) { o.LargePool, o.SmallPool = 1025, 8193 }),
		"everything":     all,
	}
}

func TestEachReleaseStartsWithTheArgumentsOfItsProfile(t *testing.T) {
	for _, image := range starters(t) {
		described := managerimage.Describe("registry:5000/longhornio/longhorn-instance-manager:"+image.tag, nil)
		for name, options := range settings() {
			arguments, _ := described.Profile.V2Arguments(options)
			if described.Profile == managerimage.Refused {
				require.Empty(t, arguments)
				arguments, _ = managerimage.Direct.V2Arguments(options) // as an operator may declare it
			}
			require.NoError(t, image.start(arguments, options), "%s with %s: %v", image.tag, name, arguments)
		}
	}
	for _, image := range scripts.Images() {
		described := managerimage.Describe("im:"+image.Tag, nil)
		started, err := image.Start(managerimage.V1Arguments())
		require.NoError(t, err)
		require.False(t, started.SPDK)
		if strings.HasPrefix(image.Tag, "v1.") && !strings.HasSuffix(image.Tag, "head") {
			require.Equal(t, !image.Frontends, described.Profile == managerimage.Refused, image.Tag)
			require.Equal(t, !image.KeepsDevices, described.RemovesDevices, image.Tag)
		}
	}
}

func TestAnImageOfUnknownReleaseStartsOnEveryRelease(t *testing.T) {
	for _, image := range starters(t) {
		for name, options := range settings() {
			arguments, _ := managerimage.Describe("im@sha256:00ff", nil).Profile.V2Arguments(options)
			require.NoError(t, image.start(arguments, options), "%s with %s", image.tag, name)
		}
	}
}

// The stand-ins refuse the arguments of the wrong profile, and those that were given to every image before.
func TestStandInsAreAsStrictAsTheScripts(t *testing.T) {
	refusing := func(arguments []string) (tags []string) {
		for _, image := range scripts.Images() {
			if _, err := image.Start(arguments); err != nil {
				tags = append(tags, image.Tag)
			}
		}
		return tags
	}
	whole, _ := managerimage.Wrapper.V2Arguments(all)
	var others []string
	for _, image := range scripts.Images() {
		if !slices.Contains([]string{"v1.12.1-rc4", "v1.12.1", "v1.12.x-head", "master-head"}, image.Tag) {
			others = append(others, image.Tag)
		}
	}
	require.Equal(t, others, refusing(whole), "only the newest images know all options")
	everywhere := len(scripts.Images())
	require.Len(t, refusing([]string{"start-spdk-tgt", "--spdk-log", "/log/spdk_tgt.log", "--spdk-cpumask", "0x1", "--spdk-core-number", "1",
		"--spdk-memory-size", "2048", "--longhorn-control-path", "/host/var/lib/longhorn/unix-domain-socket", "--enable-spdk", "--debug",
		"daemon", "--spdk-enabled", "--listen", "0.0.0.0:8500"}), everywhere)
	for _, bad := range []string{"--spdk-log /log/spdk_tgt.log", "--spdk-log a,b", "--new-option", "--spdk-cpumask x"} {
		arguments, _ := managerimage.Direct.V2Arguments(settings()["defaults"])
		require.Len(t, refusing(append(arguments, strings.Fields(bad)...)), everywhere, bad)
	}
	require.Len(t, refusing(nil), everywhere)
	require.Len(t, refusing([]string{"longhorn-manager"}), everywhere)
}

func TestSettingsWithoutAnOptionAreNamed(t *testing.T) {
	for profile, want := range map[managerimage.Profile][]string{
		managerimage.Direct: {"data-engine-iobuf-large-pool-size", "data-engine-iobuf-small-pool-size", "data-engine-number-of-cpu-cores",
			"data-engine-cpu-isolation-enabled"},
		managerimage.WrapperWithoutSmallPool: {"data-engine-iobuf-small-pool-size"},
		managerimage.Wrapper:                 nil,
		managerimage.Refused:                 nil,
	} {
		_, got := profile.V2Arguments(all)
		require.Equal(t, want, got, profile)
		_, got = profile.V2Arguments(settings()["defaults"])
		require.Empty(t, got, profile)
	}
}

func TestTheArgumentsThemselves(t *testing.T) {
	for profile, want := range map[managerimage.Profile][2]string{
		managerimage.Direct: {
			"instance-manager|--spdk-cpumask|0x3|--spdk-memory-size|2048|--enable-spdk|--debug|daemon|--spdk-enabled|--listen|0.0.0.0:8500",
			"instance-manager|--spdk-cpumask|0x3|--spdk-memory-size|1024|--enable-spdk|--debug|daemon|--spdk-enabled|--listen|0.0.0.0:8500|" +
				"--spdk-interrupt-mode|--spdk-no-hugepage"},
		managerimage.Wrapper: {
			"start-spdk-tgt|--spdk-cpumask|0x3|--spdk-core-number|0|--spdk-memory-size|2048|--longhorn-control-path|/var/lib/longhorn|" +
				"--enable-spdk|--debug|daemon|--spdk-enabled|--listen|0.0.0.0:8500",
			"start-spdk-tgt|--spdk-cpumask||--spdk-core-number|2|--spdk-memory-size|1024|--spdk-iobuf-large-pool-size|4096|" +
				"--spdk-iobuf-small-pool-size|16384|--longhorn-control-path|/var/lib/longhorn|--enable-spdk|--debug|daemon|--spdk-enabled|" +
				"--listen|0.0.0.0:8500|--spdk-interrupt-mode|--enable-irq-affinity|--enable-workqueue-affinity|--enable-rps|" +
				"--spdk-no-hugepage"},
	} {
		for i, options := range []managerimage.Options{settings()["defaults"], all} {
			got, _ := profile.V2Arguments(options)
			require.Equal(t, want[i], strings.Join(got, "|"))
		}
	}
}

// The check runs in a shell, against the scripts of each release.
func TestTheCheckTellsWhichProfileAnImageHas(t *testing.T) {
	for _, image := range scripts.Images() {
		root := t.TempDir()
		for name, text := range image.Files() {
			require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o755))
		}
		profile := managerimage.Describe("im:"+image.Tag, nil).Profile
		if profile == managerimage.Refused {
			profile = managerimage.Direct
		}
		output, err := check(root, profile)
		require.NoError(t, err, "%s: %s", image.Tag, output)
		for _, other := range []managerimage.Profile{managerimage.Direct, managerimage.WrapperWithoutSmallPool, managerimage.Wrapper} {
			arguments, _ := other.V2Arguments(all)
			_, refused := image.Start(arguments)
			output, err := check(root, other)
			require.Equal(t, refused == nil, err == nil, "%s with profile %s: %s", image.Tag, other, output)
			require.Equal(t, strings.ReplaceAll(strings.TrimSpace(output), root, "/usr/local/bin"),
				managerimage.CheckedBy(other.CheckArguments(), image.Files()))
		}
	}
}

func TestTheCheckNamesWhatIsLacking(t *testing.T) {
	root := t.TempDir()
	output, err := check(root, managerimage.Direct)
	require.Error(t, err)
	require.Equal(t, "the image lacks "+root+"/instance-manager\n", output)
	for name, text := range scripts.Named("v1.12.1").Files() {
		require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(text), 0o755))
	}
	require.NoError(t, os.WriteFile(filepath.Join(root, "start-spdk-tgt"), []byte("--spdk-cpumask"), 0o755))
	output, err = check(root, managerimage.Wrapper)
	require.Error(t, err)
	require.Equal(t, "the image lacks option --spdk-core-number of start-spdk-tgt\n", output)
	require.NoError(t, os.Chmod(filepath.Join(root, "start-spdk-tgt"), 0o644))
	output, err = check(root, managerimage.Wrapper)
	require.Error(t, err)
	require.Equal(t, "the image lacks "+root+"/start-spdk-tgt\n", output)
}

// check runs the check of a profile on the scripts in a directory.
func check(root string, profile managerimage.Profile) (string, error) {
	command := managerimage.CheckCommand()
	command[2] = strings.ReplaceAll(command[2], "/usr/local/bin", root)
	output, err := exec.Command(command[0], append(command[1:], profile.CheckArguments()...)...).CombinedOutput()
	return string(output), err
}
