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

// TimeFactor names the variable of the environment that says by how much the times of a World are shortened: 1 leaves them
// as they are in a cluster. Without it, usualTimeFactor does.
const TimeFactor = "DROVER_TIME_FACTOR"

// usualTimeFactor is what the tests that everybody runs take. With it the longest time that a scenario waits out, the
// post-election delay, lasts 9 s.
const usualTimeFactor = 20

// shortened are the flags, by binary, whose times are divided by the one factor, so that their ratios stay: what a data plane
// takes, and what is waited out because it takes so long. Not among them are leases and the deadlines of calls, progress and
// reachability, which a slow machine would miss, what makes a crowd of many changes (--snapshot-delete-batch-delay, --flood-window), how
// long work itself takes, and --safety-list-period, which nothing waits for.
var shortened = map[string][]string{
	IMMonitor: {"absence-gap", "disk-call-timeout", "disk-retry-max", "disk-retry-min", "engine-poll-active-interval",
		"engine-poll-interval", "engine-loss-pause", "path-loss-timeout", "post-election-delay", "rebuild-hand-over",
		"snapshot-absence-gap", "v2-quiet", "v2-rediscovery", "v2-settle"},
	SimulatorBinary: {"disk-create-time", "node-grace", "path-loss-time", "spdk-list-cycle"},
}

// renamed are the flags that an earlier version called otherwise, by their present name.
var renamed = map[string]string{
	"engine-poll-active-interval": "engine-look-busy",
	"engine-poll-interval":        "engine-look-period",
	"post-election-delay":         "quarantine", // as they were called before
}

// timeDefault is a line of a binary's help about a flag that is a time: its name and its default.
var timeDefault = regexp.MustCompile(`(?m)^ +--([a-z0-9-]+) duration .*\(default ([^)]+)\)$`)

// timeFactor is by how much the times of this World are shortened.
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
		return nil, fmt.Errorf("asking %s for its flags: %w\n%s", binary, err, help)
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

// Stretched is what a time of a test becomes in this World: how long it waits for something, or watches that nothing happens.
// Tests give them for the usual factor; where the times are shortened less, they wait longer.
func (w *World) Stretched(d time.Duration) time.Duration {
	return d * usualTimeFactor / time.Duration(min(w.factor, usualTimeFactor))
}
