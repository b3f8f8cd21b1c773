package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"
)

// kept is how many measurements of a group the history keeps.
const kept = 5

// Measurement is one run of one group.
type Measurement struct {
	Group string `json:"group"`
	// Date is the UTC day, Commit the abbreviated one that was measured; "+" follows it where files differed from it.
	Date   string `json:"date"`
	Commit string `json:"commit"`
	// Machine is the number of processors and the size of its memory, Load its load average over one minute when the group began.
	Machine string  `json:"machine"`
	Load    float64 `json:"load"`
	// Options are the flags that differ from their defaults, as on a command line: only equal ones are compared.
	Options string   `json:"options,omitempty"`
	Results []Result `json:"results"`
}

// begin describes a measurement of a group that begins now.
func begin(group, options string) Measurement {
	return Measurement{Group: group, Date: time.Now().UTC().Format(time.DateOnly), Commit: commit(), Machine: machine(), Load: load(),
		Options: options}
}

// commit is empty outside a working copy.
func commit() string {
	id, err := exec.Command("git", "rev-parse", "--short=8", "HEAD").Output()
	if err != nil {
		return ""
	}
	text := strings.TrimSpace(string(id))
	if changed, err := exec.Command("git", "status", "--porcelain", "--untracked-files=no").Output(); err != nil || len(changed) > 0 {
		text += "+"
	}
	return text
}

func machine() string {
	text := fmt.Sprintf("%d processors (%s)", runtime.NumCPU(), runtime.GOARCH)
	var total float64
	content, err := os.ReadFile("/proc/meminfo")
	if err != nil {
		return text
	}
	if _, err := fmt.Sscanf(string(content), "MemTotal: %f kB", &total); err != nil {
		return text
	}
	return fmt.Sprintf("%s, %.0f GiB", text, total/(1<<20))
}

func load() (average float64) {
	if content, err := os.ReadFile("/proc/loadavg"); err == nil {
		_, _ = fmt.Sscan(string(content), &average) // stays 0 where it is not shown
	}
	return average
}

// History are measurements, the oldest first.
type History []Measurement

// readHistory reads a file of measurements; one that does not exist has none.
func readHistory(path string) (History, error) {
	content, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading earlier measurements: %w", err)
	}
	var h History
	if err := json.Unmarshal(content, &h); err != nil {
		return nil, fmt.Errorf("reading earlier measurements in %s: %w", path, err)
	}
	return h, nil
}

func (h History) write(path string) error {
	content, err := json.MarshalIndent(h, "", " ")
	if err != nil {
		return fmt.Errorf("encoding the measurements: %w", err)
	}
	if err := os.WriteFile(path, append(content, '\n'), 0o644); err != nil {
		return fmt.Errorf("writing the measurements: %w", err)
	}
	return nil
}

// with adds a measurement, and drops the oldest of its kind beyond those that are kept.
func (h History) with(m Measurement) History {
	same := h.like(m)
	if len(same) >= kept {
		oldest := same[0]
		i := slices.IndexFunc(h, func(x Measurement) bool { return x.comparable(m) && x.Date == oldest.Date && x.Commit == oldest.Commit })
		h = slices.Delete(slices.Clone(h), i, i+1)
	}
	return append(h, m)
}

// like are the measurements that one can be compared with.
func (h History) like(m Measurement) History {
	return slices.DeleteFunc(slices.Clone(h), func(x Measurement) bool { return !x.comparable(m) })
}

func (m Measurement) comparable(with Measurement) bool {
	return m.Group == with.Group && m.Options == with.Options && m.Machine == with.Machine
}

// tolerance is how much worse than the mean of earlier values a value may be.
const tolerance = 0.20

// worse lists the results of a measurement that are worse than the mean of the earlier ones by more than the tolerance. Where the goal is
// a lower bound, less is worse, else more.
func (h History) worse(m Measurement) (out []string) {
	earlier := map[string][]float64{}
	for _, x := range h.like(m) {
		for _, r := range x.Results {
			earlier[r.Name] = append(earlier[r.Name], r.Value)
		}
	}
	for _, r := range m.Results {
		values := earlier[r.Name]
		if len(values) == 0 {
			continue
		}
		mean := 0.0
		for _, v := range values {
			mean += v / float64(len(values))
		}
		limit, sign := mean*(1+tolerance), "more"
		bad := r.Value > limit
		if strings.HasPrefix(r.Goal, ">=") {
			limit, sign = mean*(1-tolerance), "less"
			bad = r.Value < limit
		}
		if bad {
			out = append(out, fmt.Sprintf("%s is %s %s, %s than %s: the mean of %d earlier is %s", r.Name, number(r.Value), r.Unit, sign,
				number(limit), len(values), number(mean)))
		}
	}
	return out
}
