package setting

import (
	"fmt"
	"math"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"drover.dev/drover/shared/managerimage"
	"drover.dev/drover/shared/setting"
)

// The highest numbers that SPDK can be given.
const (
	mostMemoryMiB = 1 << 20
	mostCores     = 1024
	mostBuffers   = 1 << 20
)

// MostCPUPercent is the largest part of a node's CPU that an instance manager may request.
const MostCPUPercent = 40

func podReaders() map[string]setting.Reader[Values] {
	return map[string]setting.Reader[Values]{
		CPUMask:       setting.Text(func(v *Values, mask string) { v.Pods.SPDK.CPUMask = mask }, managerimage.ParseCPUMask),
		CPUCores:      setting.Number(0, mostCores, func(v *Values, n int) { v.Pods.SPDK.Cores = n }),
		MemorySize:    setting.Number(0, mostMemoryMiB, func(v *Values, n int) { v.Pods.SPDK.MemoryMiB = n }),
		HugePages:     setting.Boolean(func(v *Values) *bool { return &v.Pods.SPDK.HugePages }),
		InterruptMode: setting.Boolean(func(v *Values) *bool { return &v.Pods.SPDK.InterruptMode }),
		LargePool: setting.Number(managerimage.SmallestLargePool, mostBuffers,
			func(v *Values, n int) { v.Pods.SPDK.LargePool = n }),
		SmallPool: setting.Number(managerimage.SmallestSmallPool, mostBuffers,
			func(v *Values, n int) { v.Pods.SPDK.SmallPool = n }),
		CPUIsolation: setting.Boolean(func(v *Values) *bool { return &v.Pods.SPDK.Isolate }),
		SPDKLogLevel: setting.Text(func(v *Values, level string) { v.Logging.SPDKLevel = level },
			oneOf("Error", "Warning", "Notice", "Info", "Debug")),
		SPDKLogFlags: setting.Text(func(v *Values, flags string) { v.Logging.SPDKFlags = flags }, parseLogFlags),
		LogLevel: setting.Text(func(v *Values, level string) { v.Logging.Level = level },
			oneOf("Panic", "Fatal", "Error", "Warn", "Info", "Debug", "Trace")),
		LogPath: setting.Text(func(v *Values, directory string) { v.Pods.LogDirectory = directory }, parseDirectory),
		GuaranteedCPU: setting.Text(func(v *Values, percent float64) { v.Pods.CPUPercent, v.Pods.CPUPercentV2 = percent, percent },
			parsePercent),
		ImagePullPolicy: setting.Text(func(v *Values, policy string) { v.Pods.PullPolicy = pullPolicies[policy] },
			oneOf("always", "if-not-present", "never")),
		ProbeTimeout:   setting.Number(1, 60, func(v *Values, n int) { v.Pods.ProbeTimeout = n }),
		StorageNetwork: setting.Text(func(v *Values, network string) { v.Pods.StorageNetwork = network }, parseNetwork),
	}
}

var pullPolicies = map[string]corev1.PullPolicy{
	"always": corev1.PullAlways, "if-not-present": corev1.PullIfNotPresent, "never": corev1.PullNever,
}

// oneOf reads one of these words.
func oneOf(words ...string) func(string) (string, error) {
	return func(text string) (string, error) {
		if !slices.Contains(words, text) {
			return "", fmt.Errorf("%q is none of %s", text, strings.Join(words, ", "))
		}
		return text, nil
	}
}

var logFlag = regexp.MustCompile(`^[a-z0-9_-]{1,64}$`)

// allLogFlags stands for every flag. SPDK refuses it beside other flags.
const allLogFlags = "all"

// parseLogFlags reads names separated by commas; SPDK writes them in lower case. A server compares names: it knows no wildcards.
func parseLogFlags(text string) (string, error) {
	var flags []string
	for flag := range strings.SplitSeq(strings.ToLower(text), ",") {
		flag = strings.TrimSpace(flag)
		if !logFlag.MatchString(flag) {
			return "", fmt.Errorf("the value has %q, which is not the name of a log flag: give names separated by commas", flag)
		}
		flags = append(flags, flag)
	}
	if slices.Contains(flags, allLogFlags) {
		return allLogFlags, nil
	}
	return strings.Join(flags, ","), nil
}

// parseDirectory reads an absolute path of the host.
func parseDirectory(text string) (string, error) {
	if !path.IsAbs(text) || slices.Contains(strings.Split(text, "/"), "..") || path.Clean(text) == "/" {
		return "", fmt.Errorf("%q is not the absolute path of a directory", text)
	}
	return text, nil
}

func parsePercent(text string) (float64, error) {
	percent, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(percent) || percent < 0 || percent > MostCPUPercent {
		return 0, fmt.Errorf("%q is not a number from 0 to %d, the per cent of a node's CPU", text, MostCPUPercent)
	}
	return percent, nil
}

// parseNetwork reads namespace/name.
func parseNetwork(text string) (string, error) {
	namespace, name, found := strings.Cut(text, "/")
	if !found || len(validation.IsDNS1123Label(namespace)) > 0 || len(validation.IsDNS1123Subdomain(name)) > 0 {
		return "", fmt.Errorf("%q is not the namespace/name of a network attachment", text)
	}
	return text, nil
}
