package managerimage_test

import (
	"cmp"
	"encoding/json"
	"flag"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/managerimage"
	"drover.dev/drover/shared/managerimage/scripts"
)

// An unpacked image is tried beside the stand-ins if its directory is given.
var (
	imageRoot = flag.String("image-root", "", "directory of an unpacked instance-manager image, whose own scripts are tried too")
	imageName = flag.String("image", "", "reference of that image, as default-instance-manager-image has it; its tag decides the profile")
)

// starter starts an image by its stand-in, or by its own scripts.
type starter struct {
	tag   string
	start func(arguments []string, options managerimage.Options) error
}

// starters returns the stand-ins of all releases, and the scripts of the image in -image-root.
func starters(t *testing.T) (out []starter) {
	t.Helper()
	for _, image := range scripts.Images() {
		out = append(out, starter{image.Tag, func(arguments []string, _ managerimage.Options) error {
			started, err := image.Start(arguments)
			switch _, logs := started.Options["--spdk-log"]; {
			case err != nil:
				return err
			case !started.SPDK || logs:
				return fmt.Errorf("spdk_tgt is started: %t, with a log flag: %t", started.SPDK, logs)
			}
			return nil
		}})
	}
	if *imageRoot != "" {
		image := unpacked(t)
		out = append(out, starter{tagOf(*imageName), func(arguments []string, options managerimage.Options) error {
			run, err := image.Start(arguments)
			if err != nil {
				return err
			}
			return asWanted(run, arguments, options)
		}})
	}
	return out
}

// unpacked returns the image in -image-root.
func unpacked(t *testing.T) scripts.Unpacked {
	t.Helper()
	image, err := scripts.Unpack(*imageRoot)
	require.NoError(t, err)
	return image
}

// tagOf returns the tag of a reference, which may also have a digest.
func tagOf(reference string) string {
	name, _, _ := strings.Cut(reference, "@")
	return name[strings.LastIndex(name, ":")+1:]
}

// A reference without its image, or an image without its reference, would try the stand-ins alone, or the arguments of another release.
func TestAnUnpackedImageHasAReference(t *testing.T) {
	require.Equal(t, *imageRoot == "", *imageName == "", "give both: make test-image IMAGE_ROOT=directory IMAGE=reference")
	require.Equal(t, "v1.12.1", tagOf("registry:5000/im:v1.12.1@sha256:00"))
}

// asWanted returns an error if spdk_tgt or the daemon was started without an option that the settings ask for and the arguments have.
func asWanted(run scripts.Run, arguments []string, o managerimage.Options) error {
	named := func(option string) bool { return strings.Contains(strings.Join(arguments, " "), option) }
	mask := o.CPUMask
	if o.Cores > 0 && named("--spdk-core-number") {
		mask = "0x30" // the first two of PinnedCPUs
	}
	want := []string{"-m " + mask, "--mem-size " + strconv.Itoa(o.MemoryMiB)}
	if !o.HugePages {
		want = append(want, "--no-huge")
	}
	if o.InterruptMode {
		want = append(want, "--interrupt-mode")
	}
	spdk := " " + strings.Join(run.SPDK, " ") + " "
	for _, part := range want {
		if !strings.Contains(spdk, " "+part+" ") {
			return fmt.Errorf("spdk_tgt is started with%swithout %s", spdk, part)
		}
	}
	interrupts := "ff"
	if o.Isolate && named("--enable-irq-affinity") {
		interrupts = map[string]string{"0x3": "000000fc", "0x30": "000000cf"}[mask]
	}
	switch {
	case strings.Contains(spdk, " -L "):
		return fmt.Errorf("spdk_tgt is started with a log flag:%s", spdk)
	case strings.Join(run.Daemon, " ") != "--debug daemon --spdk-enabled --listen 0.0.0.0:8500":
		return fmt.Errorf("the daemon is started with %q", run.Daemon)
	case run.Interrupts != interrupts:
		return fmt.Errorf("interrupts are served by %s, not %s", run.Interrupts, interrupts)
	}
	return poolsAsWanted(run.Config, named, o)
}

// poolsAsWanted returns an error if the numbers of buffers in the start-up file of spdk_tgt differ from the settings.
func poolsAsWanted(config string, named func(string) bool, o managerimage.Options) error {
	want := map[string]int{}
	if named("--spdk-iobuf-large-pool-size") {
		want["large_pool_count"] = o.LargePool
	}
	if named("--spdk-iobuf-small-pool-size") {
		want["small_pool_count"] = o.SmallPool
	}
	var read struct {
		Subsystems []struct {
			Config []struct{ Params map[string]int }
		}
	}
	if err := json.Unmarshal([]byte(cmp.Or(config, "{}")), &read); err != nil {
		return fmt.Errorf("reading the start-up file %s: %w", config, err)
	}
	got := map[string]int{}
	for _, s := range read.Subsystems {
		for _, c := range s.Config {
			got = c.Params
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		return fmt.Errorf("spdk_tgt gets the pools %v, not %v", got, want)
	}
	return nil
}

// The hook of an image decides how its pods end, and the check of a container reads the unchanged scripts.
func TestTheHookAndTheCheckOfAnImage(t *testing.T) {
	type image struct {
		tag      string
		files    map[string]string
		keeps    bool // devices stay, and the hook waits for SPDK's end
		supports func(managerimage.Profile) bool
	}
	var images []image
	for _, i := range scripts.Images() {
		images = append(images, image{i.Tag, i.Files(), i.KeepsDevices, func(p managerimage.Profile) bool {
			arguments, _ := p.V2Arguments(all)
			_, err := i.Start(arguments)
			return err == nil
		}})
	}
	if *imageRoot != "" {
		own := unpacked(t)
		files, err := own.Files()
		require.NoError(t, err)
		stopped, err := own.Stop()
		require.NoError(t, err)
		waited := strings.Count("\n"+strings.Join(stopped.Calls, "\n"), "\npgrep ") >= 3
		removed := strings.Contains("\n"+strings.Join(stopped.Calls, "\n"), "\ndmsetup ")
		images = append(images, image{tagOf(*imageName), files, waited && !removed, func(p managerimage.Profile) bool {
			arguments, _ := p.V2Arguments(all)
			run, err := own.Start(arguments)
			return err == nil && asWanted(run, arguments, all) == nil
		}})
	}
	for _, i := range images {
		described := managerimage.Describe("im:"+i.tag, nil)
		if strings.HasPrefix(i.tag, "v1.") && !strings.HasSuffix(i.tag, "head") {
			require.Equal(t, !i.keeps, described.RemovesDevices, i.tag)
		}
		for _, p := range []managerimage.Profile{managerimage.Direct, managerimage.WrapperWithoutSmallPool, managerimage.Wrapper} {
			lack := managerimage.CheckedBy(p.CheckArguments(), i.files)
			require.Equal(t, i.supports(p), lack == "", "%s with profile %s: %s", i.tag, p, lack)
		}
	}
}
