// Package control is the simulator's control endpoint, HTTP and JSON on loopback, and its client: what is there, what was done, what must
// go wrong. It is for tests, demos and people; no controller knows of it.
package control

import (
	"time"

	"drover.dev/drover/im-monitor/simulator/internal/dataplane"
	"drover.dev/drover/im-monitor/simulator/internal/fault"
	"drover.dev/drover/im-monitor/simulator/internal/machine"
)

// Status is GET /v1/status.
type Status struct {
	Mode       dataplane.ServerMode `json:"mode"`
	Block      string               `json:"block"`
	PortOffset int                  `json:"portOffset"`
	TLS        bool                 `json:"tls"`
	Nodes      int                  `json:"nodes"`
	Pods       int                  `json:"pods"`
	Instances  int                  `json:"instances"`
	Faults     int                  `json:"faults"`
}

// AddNodes is POST /v1/nodes: the names given, or Count of them, Prefix and a number from 1 on.
type AddNodes struct {
	Names  []string `json:"names,omitempty"`
	Prefix string   `json:"prefix,omitempty"`
	Count  int      `json:"count,omitempty"`
}

// Node is one node of GET /v1/nodes.
type Node struct {
	machine.NodeInfo
	Devices []dataplane.Device `json:"devices,omitempty"`
}

// SetNode is POST /v1/nodes/{name}/state: up, cut or dead.
type SetNode struct {
	State machine.NodeState `json:"state"`
}

// Put is one instance of POST /v1/instances: as if someone had started it before. Spec.DataEngine is v1 when empty, State running.
type Put struct {
	Node string `json:"node"`
	dataplane.Spec
	State string `json:"state,omitempty"`
	UUID  string `json:"uuid,omitempty"`
}

// PutRequest is POST /v1/instances. It stops at the first that is refused.
type PutRequest struct {
	Instances []Put `json:"instances"`
	// CountOnly answers with the count only.
	CountOnly bool `json:"brief,omitempty"`
}

// PutAnswer is the answer to POST /v1/instances.
type PutAnswer struct {
	Count     int        `json:"count"`
	Instances []Instance `json:"instances,omitempty"`
}

// Instance is one instance of GET /v1/instances, with its true UUID.
type Instance struct {
	Node string `json:"node"`
	Pod  string `json:"pod"`
	dataplane.Instance
	// ReportedUUID is what the server reports.
	ReportedUUID string `json:"toldUUID"`
}

// Held is GET /v1/held: what a node keeps without any server.
type Held struct {
	Node        string                    `json:"node"`
	Lvols       map[string]dataplane.Lvol `json:"lvols"`
	Directories []string                  `json:"directories"`
	Devices     []dataplane.Device        `json:"devices"`
}

// SetDevice is POST /v1/devices/present: a device appears, or is pulled out and keeps its content.
type SetDevice struct {
	Node    string `json:"node"`
	Path    string `json:"path"`
	Present bool   `json:"present"`
}

// SwapDevices is POST /v1/devices/swap: each of two devices gets the other one's place.
type SwapDevices struct {
	Node      string `json:"node"`
	Path      string `json:"path"`
	OtherNode string `json:"otherNode"`
	OtherPath string `json:"otherPath"`
}

// CreateDisk is POST /v1/disks: DiskCreate at the v2 server of a node.
type CreateDisk struct {
	Node   string `json:"node"`
	Name   string `json:"name"`
	Path   string `json:"path"`
	UUID   string `json:"uuid"`
	Driver string `json:"driver"`
}

// SetDirectory is POST /v1/directories: the backend size that the directory of a v1 replica was made with.
type SetDirectory struct {
	Node string `json:"node"`
	Path string `json:"path"`
	Size uint64 `json:"size"`
}

// SetEngineImage is POST /v1/engine-images.
type SetEngineImage struct {
	Image string `json:"image"`
	CLI   int    `json:"cli"`
}

// Restart is POST /v1/pods/{name}/restart; the name may be `node:engine`, such as node-1:v1.
type Restart struct {
	Keep bool           `json:"keep,omitempty"`
	Down fault.Duration `json:"down,omitempty"`
}

// WriteBlock is POST /v1/volumes/{name}/write: through the volume's frontend on a node, or the one that was opened last. With Wait it tries
// again while the I/O waits.
type WriteBlock struct {
	Node  string         `json:"node,omitempty"`
	Block int64          `json:"block"`
	Text  string         `json:"text"`
	Wait  fault.Duration `json:"wait,omitempty"`
}

// ReadBlock is the answer to GET /v1/volumes/{name}/read; Written is false where nothing was ever written.
type ReadBlock struct {
	Text    string `json:"text"`
	Written bool   `json:"written"`
}

// SaveVolume is POST /v1/volumes/{name}/save: a snapshot, and with a target a backup of it, both there at once.
type SaveVolume struct {
	Snapshot string `json:"snapshot"`
	Backup   string `json:"backup,omitempty"`
	Target   string `json:"target,omitempty"`
}

// FailReplica is POST /v1/volumes/{name}/fail: the replica is in mode ERR at every engine that holds it.
type FailReplica struct {
	Replica string `json:"replica"`
}

// StartWriter is POST /v1/writers: a workload that never stops. Without a node it follows the volume.
type StartWriter struct {
	Volume   string         `json:"volume"`
	Node     string         `json:"node,omitempty"`
	Interval fault.Duration `json:"interval,omitempty"`
	Blocks   int64          `json:"blocks,omitempty"`
}

// Writer is one writer of GET /v1/writers and of the answer to DELETE /v1/writers; durations are texts.
type Writer struct {
	dataplane.Writer
	Interval fault.Duration `json:"interval"`
	MaxPause fault.Duration `json:"maxPause"`
}

// CopyTime is POST /v1/copy-time: how long copying a volume takes (rebuild, clone, backup, restore, purge, expansion); Hold is for ever.
// Without a volume it is for all that have no time of their own.
type CopyTime struct {
	Volume string         `json:"volume,omitempty"`
	Time   fault.Duration `json:"time,omitempty"`
	Hold   bool           `json:"hold,omitempty"`
	// HoldBefore holds v1 rebuilds before their copy begins, and every other copy as Hold does.
	HoldBefore bool `json:"holdBefore,omitempty"`
}

// AddedFault is the answer to POST /v1/faults.
type AddedFault struct {
	ID string `json:"id"`
}

// Cleared is the answer to DELETE /v1/faults.
type Cleared struct {
	Count int `json:"count"`
}

// Failure is every answer that is not 2xx.
type Failure struct {
	Error string `json:"error"`
}

// LongestWait bounds how long a request waits: for an entry of the journal, or for a write.
const LongestWait = time.Minute
