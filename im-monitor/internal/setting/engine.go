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
type limits struct {
	byDefault, low, high int
	v2                   bool
}

var (
	replicaTimeout     = limits{8, 8, 30, false}
	fileSyncTimeout    = limits{30, 5, 120, false}
	rebuildConcurrency = limits{1, 1, 5, false}
	minimalAvailable   = limits{25, 0, 100, true}
	overProvisioning   = limits{100, 0, 1 << 20, true}
)

// parse reads a number, or the one of the data engine that it is for in a JSON object by data engine.
func (l limits) parse(raw string) (int, error) {
	engine := "v1"
	if l.v2 {
		engine = "v2"
	}
	if strings.HasPrefix(raw, "{") {
		var byEngine map[string]string
		if err := json.Unmarshal([]byte(raw), &byEngine); err != nil {
			return 0, fmt.Errorf(`is no JSON object of strings by data engine: give {"%s":"%d"}: %w`, engine, l.byDefault, err)
		}
		raw = strings.TrimSpace(byEngine[engine])
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
