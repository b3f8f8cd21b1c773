package managerimage

import (
	"cmp"
	"strconv"
)

// The two scripts that start a pod, in /usr/local/bin of the image.
const (
	DirectScript  = "instance-manager"
	WrapperScript = "start-spdk-tgt"
)

// ControlPath is Longhorn's directory on the host. Released images have it compiled in.
const ControlPath = "/var/lib/longhorn"

// SPDK has no more buffers than these unless it is asked to: the settings count from there on.
const (
	SmallestLargePool = 1024
	SmallestSmallPool = 8192
)

// Options are the settings of a v2 data engine that arguments carry.
type Options struct {
	// CPUMask names the CPUs of SPDK: hexadecimal, or a list in brackets. Cores above 0 lets the image take so many CPUs of the pod's own
	// instead.
	CPUMask string
	Cores   int
	// MemoryMiB is the memory of SPDK; HugePages reports whether it is in huge pages.
	MemoryMiB int
	HugePages bool
	// InterruptMode lets SPDK wait for interrupts instead of polling.
	InterruptMode bool
	// LargePool and SmallPool are numbers of I/O buffers; up to SmallestLargePool and SmallestSmallPool they have no effect.
	LargePool, SmallPool int
	// ControlPath is Longhorn's directory on the host; empty: that of released images.
	ControlPath string
	// Isolate moves interrupts and other work of the host away from the CPUs of SPDK.
	Isolate bool
}

// V1Arguments start the v1 data engine of every image.
func V1Arguments() []string { return []string{DirectScript, "--debug", "daemon", "--listen", ":8500"} }

// V2Arguments returns the arguments of a v2 pod of this profile, and the settings that the profile has no option for. The log flags of
// SPDK are no argument: a flag that SPDK does not know ends it, while a call after the start reports an error. A refused image has none.
func (p Profile) V2Arguments(o Options) (arguments, leftOut []string) {
	if p == Refused {
		return nil, nil
	}
	memory := []string{"--spdk-memory-size", strconv.Itoa(o.MemoryMiB)}
	daemon := []string{"--enable-spdk", "--debug", "daemon", "--spdk-enabled", "--listen", "0.0.0.0:8500"}
	if o.InterruptMode {
		daemon = append(daemon, "--spdk-interrupt-mode")
	}
	pools, leftOut := p.pools(o)
	if p == Direct {
		arguments = append([]string{DirectScript, "--spdk-cpumask", o.CPUMask}, memory...)
		leftOut = append(leftOut, o.wrapperSettings()...)
	} else {
		mask := o.CPUMask
		if o.Cores > 0 {
			mask = ""
		}
		arguments = append([]string{WrapperScript, "--spdk-cpumask", mask, "--spdk-core-number", strconv.Itoa(o.Cores)}, memory...)
		arguments = append(append(arguments, pools...), "--longhorn-control-path", cmp.Or(o.ControlPath, ControlPath))
		if o.Isolate {
			daemon = append(daemon, isolation...)
		}
	}
	arguments = append(arguments, daemon...)
	if !o.HugePages {
		arguments = append(arguments, "--spdk-no-hugepage")
	}
	return arguments, leftOut
}

var isolation = []string{"--enable-irq-affinity", "--enable-workqueue-affinity", "--enable-rps"}

// pools returns the options for I/O buffers that the profile knows and the settings ask for, and the settings without an option.
func (p Profile) pools(o Options) (options, leftOut []string) {
	add := func(wanted, smallest int, option, setting string, known bool) {
		switch {
		case wanted <= smallest:
		case known:
			options = append(options, option, strconv.Itoa(wanted))
		default:
			leftOut = append(leftOut, setting)
		}
	}
	add(o.LargePool, SmallestLargePool, "--spdk-iobuf-large-pool-size", "data-engine-iobuf-large-pool-size", p != Direct)
	add(o.SmallPool, SmallestSmallPool, "--spdk-iobuf-small-pool-size", "data-engine-iobuf-small-pool-size", p == Wrapper)
	return options, leftOut
}

// wrapperSettings returns the settings in force that only start-spdk-tgt has an option for.
func (o Options) wrapperSettings() (out []string) {
	if o.Cores > 0 {
		out = append(out, "data-engine-number-of-cpu-cores")
	}
	if o.Isolate {
		out = append(out, "data-engine-cpu-isolation-enabled")
	}
	return out
}
