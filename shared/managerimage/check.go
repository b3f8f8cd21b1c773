package managerimage

import (
	"slices"
	"strings"
)

// checkScript ends with 0 if the image has each script and option that its arguments name, and else prints the lack and ends with 1. It
// needs no right, writes nothing and uses cat alone. An admission policy compares the text: there is no other.
const checkScript = `for want; do file=/usr/local/bin/${want%%:*}; option=${want#*:}; ` +
	`if ! test -x "$file"; then echo "the image lacks $file"; exit 1; fi; ` +
	`case "$(cat "$file")" in *"$option"*) ;; *) echo "the image lacks option $option of ${want%%:*}"; exit 1 ;; esac; done`

// CheckCommand is the command of a container that tests whether its image has a profile; the arguments are those of CheckArguments.
func CheckCommand() []string { return []string{"/bin/sh", "-c", checkScript, "check"} }

// CheckArguments returns what a container tests: each script and option that the profile may use, as script:option.
func (p Profile) CheckArguments() []string {
	wrapper := p == Wrapper || p == WrapperWithoutSmallPool
	out := of(DirectScript, "--enable-spdk", "--spdk-cpumask", "--spdk-memory-size", "--spdk-no-hugepage", "--spdk-interrupt-mode")
	out = append(out, "instance-manager-v2-prestop:")
	if wrapper {
		out = append(out, of(DirectScript, "--spdk-iobuf-large-pool-size")...)
		out = append(out, of(WrapperScript, "--spdk-cpumask", "--spdk-core-number", "--longhorn-control-path")...)
		out = append(out, of(WrapperScript, isolation...)...)
	}
	if p == Wrapper {
		out = append(out, of(DirectScript, "--spdk-iobuf-small-pool-size")...)
	}
	return out
}

func of(script string, options ...string) []string {
	out := slices.Clone(options)
	for i := range out {
		out[i] = script + ":" + out[i]
	}
	return out
}

// CheckedBy runs the check of a container on scripts by name, for those who play images: it prints what the shell would print.
func CheckedBy(arguments []string, scripts map[string]string) (lack string) {
	for _, want := range arguments {
		script, option, _ := strings.Cut(want, ":")
		text, there := scripts[script]
		switch {
		case !there:
			return "the image lacks /usr/local/bin/" + script
		case !strings.Contains(text, option):
			return "the image lacks option " + option + " of " + script
		}
	}
	return ""
}
