package setting

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// Engine is what v1 engines are started with.
type Engine struct {
	// ReplicaTimeout is how many seconds a replica may be silent, FileSyncTimeout how many a file transfer may take.
	ReplicaTimeout, FileSyncTimeout int
	// RebuildConcurrency is how many files of one replica are rebuilt at a time; never 0, with which an engine exits.
	RebuildConcurrency int
}

// limits of the values that one Setting may have.
type limits struct{ byDefault, low, high int }

var (
	replicaTimeout     = limits{8, 8, 30}
	fileSyncTimeout    = limits{30, 5, 120}
	rebuildConcurrency = limits{1, 1, 5}
	purgesPerNode      = limits{5, 0, 1000}
)

// parse reads a number, or the one of v1 in a JSON object by data engine.
func (l limits) parse(raw string) (int, error) {
	if strings.HasPrefix(raw, "{") {
		var byEngine map[string]string
		if err := json.Unmarshal([]byte(raw), &byEngine); err != nil {
			return 0, fmt.Errorf(`is no JSON object of strings by data engine: give {"v1":"%d"}: %w`, l.byDefault, err)
		}
		raw = strings.TrimSpace(byEngine["v1"])
	}
	if raw == "" {
		return l.byDefault, nil
	}
	n, err := strconv.Atoi(raw)
	if err != nil || n < l.low || n > l.high {
		return 0, fmt.Errorf("is %q: give a number from %d to %d", raw, l.low, l.high)
	}
	return n, nil
}
