package world

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"
)

// TimeFactor is the environment variable with the factor by which the times of a World are divided: 1 leaves them as in a
// cluster. The default is usualTimeFactor.
const TimeFactor = "DROVER_TIME_FACTOR"

// usualTimeFactor is the factor of the tests by default. With it the longest time that a scenario waits out, the
// post-election delay, lasts 9 s.
const usualTimeFactor = 20

// shortened are the flags, by binary, whose times are divided by the same factor, so that their ratios stay: durations of the data
// plane, and delays that exist because of those. Not among them are leases and the deadlines of calls, progress and
// reachability, which a slow machine would miss, windows that batch many changes (--snapshot-delete-batch-delay, --flood-window), the
// duration of work itself, and --safety-list-period, on which no test waits.
var shortened = map[string][]string{
	IMMonitor: {"absence-gap", "disk-call-timeout", "disk-retry-max", "disk-retry-min", "engine-poll-active-interval",
		"engine-poll-interval", "engine-loss-pause", "path-loss-timeout", "post-election-delay", "rebuild-hand-over",
		"snapshot-absence-gap", "v1-stop-patience", "v2-quiet", "v2-rediscovery", "v2-settle"},
	SimulatorBinary: {"dead-replica-time", "dead-target-time", "disk-create-time", "kill-time", "node-grace", "path-loss-time",
		"spdk-list-cycle"},
	RealNodesBinary: {"node-grace"},
}

// renamed maps flags to their names in an earlier version.
var renamed = map[string]string{
	"engine-poll-active-interval": "engine-look-busy",
	"engine-poll-interval":        "engine-look-period",
	"post-election-delay":         "quarantine", // as they were called before
}

// timeDefault matches a line of a binary's help about a duration flag: its name and its default.
var timeDefault = regexp.MustCompile(`(?m)^ +--([a-z0-9-]+) duration .*\(default ([^)]+)\)$`)

// timeFactor is the factor by which the times of this World are divided.
func (w *World) timeFactor() (int, error) {
	text := os.Getenv(TimeFactor)
	switch {
	case w.options.RealTimes:
		return 1, nil
	case text == "":
		return usualTimeFactor, nil
	}
	factor, err := strconv.Atoi(text)
	if err != nil || factor < 1 {
		return 0, fmt.Errorf("%s is %q: it must be a whole number from 1 on", TimeFactor, text)
	}
	return factor, nil
}

// times are the flags that shorten the binary's times. A binary from another source keeps those that it does not have.
func (w *World) times(ctx context.Context, binary string) ([]string, error) {
	if w.factor == 1 {
		return nil, nil
	}
	help, err := exec.CommandContext(ctx, filepath.Join(w.Dir, binary), "--help").CombinedOutput()
	if err != nil {
		return nil, fmt.Errorf("reading the flags of %s: %w\n%s", binary, err, help)
	}
	defaults := map[string]string{}
	for _, match := range timeDefault.FindAllStringSubmatch(string(help), -1) {
		defaults[match[1]] = match[2]
	}
	var out []string
	for _, name := range shortened[binary] {
		text, found := defaults[name]
		if !found && defaults[renamed[name]] != "" {
			name, found = renamed[name], true
			text = defaults[name]
		}
		if !found {
			if w.options.Sources[binary] != "" {
				continue
			}
			return nil, fmt.Errorf("%s has no flag --%s with a time as its default", binary, name)
		}
		usual, err := time.ParseDuration(text)
		if err != nil {
			return nil, fmt.Errorf("the default of --%s of %s: %w", name, binary, err)
		}
		out = append(out, fmt.Sprintf("--%s=%s", name, usual/time.Duration(w.factor)))
	}
	return out, nil
}

// Stretched converts a timeout or watch time of a test to this World. Tests give these times for the usual factor; where the times
// are shortened less, tests wait longer.
func (w *World) Stretched(d time.Duration) time.Duration {
	return d * usualTimeFactor / time.Duration(min(w.factor, usualTimeFactor))
}
