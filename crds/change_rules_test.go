package crds_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

const volume = `
kind: Volume
metadata: {name: vol-1}
spec:
  size: "1073741824"
  numberOfReplicas: 3
  encrypted: true
  backingImage: parrot
  dataEngine: v2
  dataLayout: {type: sharded, mode: erasureCoding, dataChunks: 4, parityChunks: 2}
  topologyRequirement: [{zone: a}, {zone: b}]
`

const plainVolume = `{kind: Volume, metadata: {name: vol-1}, spec: {size: "1073741824", numberOfReplicas: 3}}`

const backup = `
kind: Backup
metadata: {name: backup-1}
spec: {snapshotName: before-the-upgrade, backupMode: incremental, backupBlockSize: "2097152", syncRequestedAt: null}
`

const restored = `{kind: Volume, metadata: {name: vol-1}, spec: {size: "1073741824", fromBackup: "s3://t?backup=b&volume=v"}}`

const cloned = `{kind: Volume, metadata: {name: vol-1}, spec: {size: "1073741824", dataSource: "vol://other", cloneMode: linked-clone}}`

const standby = `{kind: Volume, metadata: {name: vol-1}, spec: {fromBackup: "s3://t?backup=b&volume=v", Standby: true}}`

type change struct{ name, manifest, patch, shows string }

func TestWhatIsImmutableStays(t *testing.T) {
	tests := []change{
		{"an orphan's parameter", instanceOrphan, "spec: {parameters: {InstanceUUID: another}}",
			"another instance gets an Orphan of its own"},
		{"a further parameter of an orphan", instanceOrphan, "spec: {parameters: {Hint: x}}", "spec is immutable"},
		{"an orphan's unlisted field", instanceOrphan, "spec: {somethingNew: x}", "spec is immutable"},
		{"an orphan's node", instanceOrphan, "spec: {nodeID: node-2}", "spec is immutable"},
		{"an orphan's type", dataOrphan, "spec: {orphanType: replica-instance}", "spec is immutable"},
		{"a snapshot's volume", snapshot, "spec: {volume: vol-2}", "create a new Snapshot for the other volume"},
		{"a snapshot's createSnapshot", snapshot, "spec: {createSnapshot: false}", "spec.createSnapshot is immutable"},
		{"a snapshot's labels", snapshot, "spec: {labels: {purpose: fun}}", "use metadata.labels"},
		{"taking a snapshot's labels away", snapshot, "spec: {labels: null}", "use metadata.labels"},
		{"a volume attachment's volume", volumeAttachment, "spec: {volume: vol-2}", "put the ticket there"},
		{"a ticket's id", volumeAttachment, "spec: {attachmentTickets: {csi-aaaa: {id: csi-bbbb}}}", "must be its id"},
		{"a volume's encryption", volume, "spec: {encrypted: false}", "spec.encrypted is immutable"},
		{"filling a volume later from a backup", volume, `spec: {fromBackup: "s3://t?backup=b&volume=v"}`, "spec.fromBackup is immutable"},
		{"filling a volume later from another", volume, `spec: {dataSource: "vol://other"}`, "spec.dataSource is immutable"},
		{"encrypting a volume later", plainVolume, "spec: {encrypted: true}", "spec.encrypted is immutable"},
		{"a volume's backing image", volume, "spec: {backingImage: penguin}", "create a new volume from the other image"},
		{"taking a volume's backing image away", volume, "spec: {backingImage: null}", "spec.backingImage is immutable"},
		{"giving a volume a backing image", plainVolume, "spec: {backingImage: penguin}", "spec.backingImage is immutable"},
		{"a number in a volume's layout", volume, "spec: {dataLayout: {dataChunks: 5}}", "spec.dataLayout is immutable"},
		{"taking a volume's layout away", volume, "spec: {dataLayout: null}", "spec.dataLayout is immutable"},
		{"giving a volume a layout", plainVolume, "spec: {dataLayout: {type: sharded}}", "spec.dataLayout is immutable"},
		{"a volume's topology", volume, "spec: {topologyRequirement: [{zone: a}]}", "spec.topologyRequirement is immutable"},
		{"giving a volume a topology", plainVolume, "spec: {topologyRequirement: [{zone: a}]}", "spec.topologyRequirement is immutable"},
		{"a volume's data engine", volume, "spec: {dataEngine: v1}", "spec.dataEngine is immutable"},
		{"taking a volume's data engine away", volume, "spec: {dataEngine: null}", "spec.dataEngine is immutable"},
		{"giving a volume another data engine than v1", plainVolume, "spec: {dataEngine: v2}", "spec.dataEngine is immutable"},
		{"making a volume follow a backup later", restored, "spec: {Standby: true}", "spec.Standby only turns false"},
		{"how a volume is cloned", cloned, "spec: {cloneMode: full-copy}", "spec.cloneMode is immutable"},
		{"forgetting how a volume is cloned", cloned, "spec: {cloneMode: null}", "spec.cloneMode is immutable"},
		{"sharing a source's data later", plainVolume, "spec: {cloneMode: linked-clone}", "spec.cloneMode is immutable"},
		{"a volume's size taken away", plainVolume, "spec: {size: null}", "spec.size only grows"},
		{"a size as no size", plainVolume, `spec: {size: ""}`, "spec.size must be"},
		{"an upgrade's nodes", upgradeManager, "spec: {nodes: [node-1]}", "spec.nodes is immutable"},
		{"the order of an upgrade's nodes", upgradeManager, "spec: {nodes: [node-2, node-1]}", "spec.nodes is immutable"},
		{"an upgrade's nodes taken away", upgradeManager, "spec: {nodes: null}", "spec.nodes is immutable"},
		{"a disk's type", node, "spec: {disks: {fast: {diskType: filesystem, initialize: null}}}", "add it under a new key"},
		{"taking a disk's type away", node, "spec: {disks: {fast: {diskType: null, initialize: null}}}", "diskType of a disk is immutable"},
		{"a second disk of the same path", node, "spec: {disks: {again: {diskType: block, path: /dev/sdb}}}", "must not have the same path"},
		{"what is backed up", backup, "spec: {snapshotName: other}", "create a new Backup of the other snapshot"},
		{"that something is backed up", backup, "spec: {snapshotName: null}", "spec.snapshotName is immutable"},
		{"how a backup is taken", backup, "spec: {backupMode: full}", "spec.backupMode is immutable"},
		{"the blocks of a backup", backup, "spec: {backupBlockSize: null}", "spec.backupBlockSize is immutable"},
		{"a node upgrade's image", nodeUpgrade, "spec: {instanceManagerImage: other}", "its DataEngineUpgradeManager makes a new one"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWriter(t)
			object, err := w.create(test.manifest)
			require.NoError(t, err)
			requireRefused(t, w.merge(object, test.patch), test.shows)
		})
	}
}

func TestWhatMayChangeChanges(t *testing.T) {
	tests := []change{
		{name: "an orphan's labels and finalizer", manifest: instanceOrphan,
			patch: "metadata: {labels: {a: b}, finalizers: [longhorn.io]}"},
		{name: "an orphan's own spec again", manifest: instanceOrphan, patch: "spec: {nodeID: node-1}"},
		{name: "a snapshot's finalizer and own labels", manifest: snapshot, patch: "metadata: {labels: {a: b}, finalizers: [longhorn.io]}"},
		{name: "a snapshot's defaults written out",
			manifest: "{kind: Snapshot, metadata: {name: a}, spec: {volume: vol-1}}", patch: "spec: {createSnapshot: false, labels: {}}"},
		{name: "a further ticket", manifest: volumeAttachment,
			patch: "spec: {attachmentTickets: {snapshot-controller-a: {id: snapshot-controller-a, type: snapshot-controller, nodeID: " +
				"node-1}}}"},
		{name: "a ticket's node", manifest: volumeAttachment,
			patch: "spec: {attachmentTickets: {csi-aaaa: {nodeID: node-2, generation: 4}}}"},
		{name: "the last tickets go", manifest: volumeAttachment, patch: `spec: {attachmentTickets: {csi-aaaa: null, "": null}}`},
		{name: "a volume's size and replicas", manifest: volume, patch: `spec: {size: "2147483648", numberOfReplicas: 2}`},
		{name: "a volume's defaults written out", manifest: plainVolume,
			patch: `spec: {encrypted: false, backingImage: "", dataLayout: {type: "", dataChunks: 0}, topologyRequirement: []}`},
		{name: "a volume's data engine written out", manifest: plainVolume, patch: "spec: {dataEngine: v1, cloneMode: full-copy}"},
		{name: "a standby volume is activated", manifest: standby, patch: "spec: {Standby: false, frontend: blockdev}"},
		{name: "a standby volume gets its size", manifest: standby, patch: `spec: {size: "1073741824"}`},
		{name: "whether a new volume counts its writes", manifest: plainVolume, patch: "spec: {revisionCounterDisabled: true}"},
		{name: "a disk's path", manifest: node, patch: `spec: {disks: {fast: {path: /dev/sdc}}}`},
		{name: "a disk under another key", manifest: node,
			patch: `spec: {disks: {fast: null, other: {diskType: block, path: /dev/sdb}}}`},
		{name: "a disk without path beside another", manifest: node, patch: `spec: {disks: {a: {}, b: {path: ""}}}`},
		{name: "reading a backup again", manifest: backup, patch: `spec: {syncRequestedAt: "2026-01-31T09:30:00Z", labels: {a: b}}`},
		{name: "naming what to back up late", manifest: `{kind: Backup, metadata: {name: a}, spec: {backupBlockSize: "-1", snapshotName: ""}}`,
			patch: `spec: {snapshotName: other, backupMode: full, backupBlockSize: "2097152"}`},
		{name: "a further disk, and one less", manifest: node, patch: `spec: {disks: {slow: {path: /var/lib/longhorn}, fast: null}}`},
		{name: "pausing an upgrade", manifest: upgradeManager, patch: "spec: {paused: true, skipVolumes: [vol-9]}"},
		{name: "aborting an upgrade", manifest: upgradeManager, patch: "spec: {abort: true}"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := newWriter(t)
			object, err := w.create(test.manifest)
			require.NoError(t, err)
			require.NoError(t, w.merge(object, test.patch))
		})
	}
}

// What the replicas have, and what was promised to them, cannot be taken back; what was never accepted can.
func TestASizeOnlyGrows(t *testing.T) {
	w := newWriter(t)
	object, err := w.create(plainVolume)
	require.NoError(t, err)
	require.NoError(t, w.merge(object, `spec: {size: "536870912"}`), "no replica has it yet")
	require.NoError(t, w.mergeStatus(object, "status: {acceptedSize: 536870912}"))
	require.NoError(t, w.merge(object, `spec: {size: "4294967296"}`))
	require.NoError(t, w.merge(object, `spec: {size: "1073741824"}`), "more was not accepted yet")
	requireRefused(t, w.merge(object, `spec: {size: "268435456"}`), "spec.size only grows: a volume cannot shrink below status.acceptedSize")
	requireRefused(t, w.merge(object, `spec: {size: "0"}`), "spec.size only grows")
	requireRefused(t, w.merge(object, "spec: {size: null}"), "spec.size only grows")
	requireRefused(t, w.merge(object, "spec: null"), "spec.size only grows")
	requireRefused(t, w.merge(object, `spec: {size: "1Gi"}`), "spec.size must be a number of bytes")
}

// An engine and its replicas must agree on whether writes are counted: it is decided before any of them exists.
func TestWhetherAVolumeCountsItsWritesIsDecidedOnce(t *testing.T) {
	for _, state := range []string{"detached", "attached"} {
		for _, disabled := range []string{"true", "false"} {
			t.Run(disabled+" "+state, func(t *testing.T) {
				w := newWriter(t)
				object, err := w.create(plainVolume)
				require.NoError(t, err)
				require.NoError(t, w.mergeStatus(object, "status: {state: creating}"))
				require.NoError(t, w.merge(object, "spec: {revisionCounterDisabled: "+disabled+"}"), "attach-controller writes the default")
				require.NoError(t, w.mergeStatus(object, "status: {state: "+state+"}"))
				other := map[string]string{"true": "false", "false": "true"}[disabled]
				requireRefused(t, w.merge(object, "spec: {revisionCounterDisabled: "+other+"}"), "spec.revisionCounterDisabled is immutable")
				require.NoError(t, w.merge(object, "spec: {numberOfReplicas: 2}"))
				require.NoError(t, w.mergeStatus(object, "status: {state: deleting}"))
			})
		}
	}
}
