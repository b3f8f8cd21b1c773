package crds_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const (
	instanceOrphan = `
kind: Orphan
metadata: {name: orphan-0123}
spec:
  dataEngine: v2
  nodeID: node-1
  orphanType: replica-instance
  parameters: {InstanceName: vol-1-r-aabbccdd, InstanceUUID: 66666666-7777, InstanceManager: instance-manager-0123}
`
	dataOrphan = `
kind: Orphan
metadata: {name: orphan-4567}
spec:
  nodeID: node-1
  orphanType: replica
  parameters: {DataName: vol-1-aabbccdd, DiskName: disk-1, DiskUUID: 1111-2222, DiskPath: /var/lib/longhorn, DiskType: filesystem}
`
	snapshot = `
kind: Snapshot
metadata: {name: before-the-upgrade, labels: {longhornvolume: vol-1}}
spec: {volume: vol-1, createSnapshot: true, labels: {purpose: upgrade}}
`
	volumeAttachment = `
kind: VolumeAttachment
metadata: {name: vol-1}
spec:
  volume: vol-1
  attachmentTickets:
    "": {id: "", type: longhorn-api, nodeID: node-1, generation: 0, parameters: {disableFrontend: "false"}}
    csi-aaaa: {id: csi-aaaa, type: csi-attacher, nodeID: node-1, generation: 3}
`
	nodeUpgrade = `
kind: NodeDataEngineUpgrade
metadata: {name: upgrade-node-1}
spec: {nodeID: node-1, dataEngine: v2, instanceManagerImage: "registry/instance-manager:v2", dataEngineUpgradeManager: upgrade}
`
	upgradeManager = `
kind: DataEngineUpgradeManager
metadata: {name: upgrade}
spec: {dataEngine: v2, nodes: [node-1, node-2], timeouts: {switching-over: 10m, rebuilding-replica: 1h30m}, onFailure: Halt}
`
)

const node = `
kind: Node
metadata: {name: node-1}
spec: {disks: {fast: {diskType: block, path: /dev/sdb, initialize: new}}}
`

func TestObjectsAsTheyShouldBeAreCreated(t *testing.T) {
	for name, manifest := range map[string]string{
		"an orphan of an instance":         instanceOrphan,
		"an orphan of a replica directory": dataOrphan,
		"a snapshot":                       snapshot,
		"tickets, one with an empty id":    volumeAttachment,
		"a node's upgrade":                 nodeUpgrade,
		"an upgrade of two nodes":          upgradeManager,
		"an upgrade of all nodes":          strings.Replace(upgradeManager, "nodes: [node-1, node-2], ", "", 1),
		"a disk that may be formatted":     node,
		"a disk that is adopted":           strings.Replace(node, "new", "\"adopt:9f1c6f1e-51a1-4a33-8d4e-2f6f0b3a7d11\"", 1),
		"a disk that is not touched":       strings.Replace(node, ", initialize: new", "", 1),
		"a volume attachment without ticket": "{kind: VolumeAttachment, metadata: {name: vol-1}, spec: {volume: vol-1, " +
			"attachmentTickets: {}}}",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := newWriter(t).create(manifest)
			require.NoError(t, err)
		})
	}
}

// manyNames is so many elements of a list in YAML's flow style.
func manyNames(n int) string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("n%d", i)
	}
	return strings.Join(names, ", ")
}

// manyLabels is so many labels of YAML's flow style.
func manyLabels(n int) string {
	labels := make([]string, n)
	for i := range labels {
		labels[i] = fmt.Sprintf("l%d: x", i)
	}
	return strings.Join(labels, ", ")
}

func TestObjectsThatLackSomethingAreRefusedAtCreationWithTheRemedy(t *testing.T) {
	tests := []struct{ name, manifest, old, new, shows string }{
		{"an unknown type of orphan", instanceOrphan, "replica-instance", "frontend-instance",
			"must be engine-instance, replica-instance, or replica"},
		{"an orphan without a type", instanceOrphan, "  orphanType: replica-instance\n", "",
			"must be engine-instance, replica-instance, or replica"},
		{"an orphan without a node", instanceOrphan, "  nodeID: node-1\n", "", "spec.nodeID must name the node"},
		{"an orphan of an instance without its UUID", instanceOrphan, "InstanceUUID: 66666666-7777, ", "",
			"InstanceName, InstanceUUID and InstanceManager"},
		{"an orphan of an instance with an empty UUID", instanceOrphan, "66666666-7777", `""`,
			"InstanceName, InstanceUUID and InstanceManager"},
		{"an orphan of an instance without its name", instanceOrphan, "InstanceName: vol-1-r-aabbccdd, ", "",
			"InstanceName, InstanceUUID and InstanceManager"},
		{"an orphan of an instance without its instance manager", instanceOrphan, ", InstanceManager: instance-manager-0123", "",
			"InstanceName, InstanceUUID and InstanceManager"},
		{"an orphan of an instance without its data engine", instanceOrphan, "  dataEngine: v2\n", "", "needs spec.dataEngine"},
		{"an orphan of an unknown data engine", instanceOrphan, "v2", "v3", `supported values: "v1", "v2"`},
		{"an orphan of a directory without its disk", dataOrphan, "DiskUUID: 1111-2222, ", "",
			"DataName, DiskName, DiskUUID, DiskPath and DiskType"},
		{"a snapshot of no volume", snapshot, "volume: vol-1, ", "", "spec.volume: Required value"},
		{"a snapshot of a volume without name", snapshot, "{volume: vol-1", `{volume: ""`, "spec.volume must be the name of a volume"},
		{"a snapshot of a volume with an endless name", snapshot, "{volume: vol-1", "{volume: " + strings.Repeat("v", 254), "Too long"},
		{"a snapshot with too many labels", snapshot, "purpose: upgrade", manyLabels(257), "Too many"},
		{"a snapshot without spec", "{kind: Snapshot, metadata: {name: a}}", "", "", "spec: Required value"},
		{"a volume attachment of another name", volumeAttachment, "name: vol-1", "name: vol-2", "set metadata.name to spec.volume"},
		{"a ticket under another key", volumeAttachment, "id: csi-aaaa", "id: csi-bbbb", "must be its id"},
		{"a ticket without id under a key", volumeAttachment, "id: csi-aaaa, ", "", "must be its id"},
		{"an upgrade of v1", upgradeManager, "v2", "v1", `supported values: "v2"`},
		{"an upgrade with an unknown state's timeout", upgradeManager, "switching-over", "paused",
			"the keys of spec.timeouts are states of a node"},
		{"an upgrade with a timeout without unit", upgradeManager, "10m", `"10"`, "a timeout must be a duration with its unit"},
		{"an upgrade with a negative timeout", upgradeManager, "10m", `"-10m"`, "such as 90s, 10m or 1h30m"},
		{"an upgrade with an endless timeout", upgradeManager, "10m", strings.Repeat("1m", 20), "Too long"},
		{"an upgrade that is tried again backwards", upgradeManager, "onFailure: Halt", "maxRetries: -1",
			"spec.maxRetries must be 0 to 100"},
		{"an upgrade that is tried again for ever", upgradeManager, "onFailure: Halt", "maxRetries: 101", "spec.maxRetries must be 0 to 100"},
		{"an upgrade that skips a volume without name", upgradeManager, "onFailure: Halt", `skipVolumes: [""]`,
			"a volume in spec.skipVolumes must be the name of one"},
		{"an upgrade that skips a volume twice", upgradeManager, "onFailure: Halt", "skipVolumes: [a, b, a]", "Duplicate value"},
		{"an upgrade of a node without name", upgradeManager, "[node-1, node-2]", `[node-1, ""]`,
			"a node in spec.nodes must be the name of one"},
		{"an upgrade of a node twice", upgradeManager, "[node-1, node-2]", "[node-1, node-1]", "Duplicate value"},
		{"an upgrade with an unknown answer to failure", upgradeManager, "Halt", "Retry", `supported values: "Halt", "Continue"`},
		{"an upgrade of too many nodes", upgradeManager, "[node-1, node-2]", "[" + manyNames(5001) + "]", "Too many"},
		{"an upgrade of a node with an endless name", upgradeManager, "node-1", strings.Repeat("n", 254), "Too long"},
		{"an upgrade that skips too many volumes", upgradeManager, "onFailure: Halt", "skipVolumes: [" + manyNames(5001) + "]", "Too many"},
		{"an upgrade that skips a volume with an endless name", upgradeManager, "onFailure: Halt",
			"skipVolumes: [" + strings.Repeat("v", 254) + "]", "Too long"},
		{"an upgrade with too many timeouts", upgradeManager, "switching-over: 10m", strings.ReplaceAll(manyLabels(17), "x", "1m"), "Too many"},
		{"a volume attachment of no volume", volumeAttachment, "  volume: vol-1\n", "", "spec.volume: Required value"},
		{"a volume attachment of a volume with an endless name", volumeAttachment, "  volume: vol-1", "  volume: " + strings.Repeat("v", 254),
			"Too long"},
		{"too many tickets", "{kind: VolumeAttachment, metadata: {name: vol-1}, spec: {volume: vol-1, attachmentTickets: {TICKETS}}}",
			"TICKETS", strings.ReplaceAll(manyLabels(4097), "x", "{}"), "Too many"},
		{"a disk with an endless wish", node, "initialize: new", "initialize: adopt:" + strings.Repeat("0", 40), "Too long"},
		{"a node's upgrade without node", nodeUpgrade, "nodeID: node-1, ", "", "spec.nodeID: Required value"},
		{"a disk with another wish than new and adopt", node, "initialize: new", "initialize: format",
			"initialize must be new, or adopt:<uuid>"},
		{"adopting a disk without UUID", node, "initialize: new", `initialize: "adopt:"`, "initialize must be new, or adopt:<uuid>"},
		{"adopting what only begins with a UUID", node, "initialize: new", `initialize: "adopt:9f1c6f1e-51a1-4a33-8d4e-2f6f0b3a7d"`,
			"initialize must be new"},
		{"adopting a disk with a UUID in upper case", node, "initialize: new", `initialize: "adopt:9F1C6F1E-51A1-4A33-8D4E-2F6F0B3A7D11"`,
			"with the UUID of the lvstore in lower case"},
		{"initializing a filesystem disk", node, "diskType: block", "diskType: filesystem", "initialize is only for block disks"},
		{"a volume of a size that is no number", "{kind: Volume, metadata: {name: vol-1}, spec: {size: 10Gi}}", "", "",
			"spec.size must be a number of bytes"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			require.Contains(t, test.manifest, test.old)
			_, err := newWriter(t).create(strings.Replace(test.manifest, test.old, test.new, 1))
			requireRefused(t, err, test.shows)
		})
	}
}
