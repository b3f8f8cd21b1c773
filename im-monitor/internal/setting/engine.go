package setting

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/setting"
)

// Engine is what v1 engines are started with.
type Engine struct {
	// ReplicaTimeout is how many seconds a replica may be silent, FileSyncTimeout how many a file transfer may take.
	ReplicaTimeout, FileSyncTimeout int
	// RebuildConcurrency is how many files of one replica are rebuilt at a time; never 0, with which an engine exits.
	RebuildConcurrency int
}

// Frontend is what v2 frontends are started with that name nothing of their own.
type Frontend struct {
	// UblkQueueDepth and UblkNumberOfQueue are those of a ublk device.
	UblkQueueDepth, UblkNumberOfQueue int
	// IOQueues is how many NVMe connections carry I/O; 0 leaves it to the kernel.
	IOQueues int
}

// limits of the values that one Setting may have, and the data engine that it is for.
type limits struct {
	byDefault, low, high int
	dataEngine           string
}

var (
	replicaTimeout     = limits{8, 8, 30, v1beta2.DataEngineV1}
	fileSyncTimeout    = limits{30, 5, 120, v1beta2.DataEngineV1}
	rebuildConcurrency = limits{1, 1, 5, v1beta2.DataEngineV1}
	ublkQueueDepth     = limits{128, 1, 4096, v1beta2.DataEngineV2}
	ublkNumberOfQueue  = limits{1, 1, 128, v1beta2.DataEngineV2}
	ioQueues           = limits{0, 0, 128, v1beta2.DataEngineV2}
	minimalAvailable   = limits{25, 0, 100, v1beta2.DataEngineV2}
	overProvisioning   = limits{100, 0, setting.MostOverProvisioning, v1beta2.DataEngineV2}
	purgesPerNode      = limits{5, 0, setting.MostPurgesPerNode, v1beta2.DataEngineV1}
)

// parse reads a number, or the one of the data engine in a JSON object by data engine.
func (l limits) parse(raw string) (int, error) {
	if strings.HasPrefix(raw, "{") {
		var byEngine map[string]string
		if err := json.Unmarshal([]byte(raw), &byEngine); err != nil {
			return 0, fmt.Errorf(`is no JSON object of strings by data engine: give {"%s":"%d"}: %w`, l.dataEngine, l.byDefault, err)
		}
		raw = strings.TrimSpace(byEngine[l.dataEngine])
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
