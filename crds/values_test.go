package crds_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// badValue is an object with one invalid value.
type badValue struct{ kind, spec, shows string }

const ticketOf = "volume: %s, attachmentTickets: {a: {id: a, type: longhorn-api, nodeID: node-1, %s}}"

func ofTicket(fields string) string { return fmt.Sprintf(ticketOf, "NAME", fields) }

var badValues = []badValue{
	{"Volume", `size: "-5"`, "spec.size must be a number of bytes, 0 or more"},
	{"Volume", "size: 10Gi", `as a string without unit, such as "10737418240" for 10 Gi`},
	{"Volume", `size: "1e9"`, "spec.size must be a number of bytes, 0 or more"},
	{"Volume", `size: "9999999999999999999"`, "spec.size must be a number of bytes, 0 or more"},
	{"Volume", `size: "` + strings.Repeat("9", 65) + `"`, "Too long"},
	{"Volume", "size: 10", "must be of type string"},
	{"Volume", "numberOfReplicas: -3", "spec.numberOfReplicas must be 1 to 20"},
	{"Volume", "numberOfReplicas: 0", "absent for the setting default-replica-count"},
	{"Volume", "numberOfReplicas: 21", "spec.numberOfReplicas must be 1 to 20"},
	{"Volume", "numberOfReplicas: 1000", "spec.numberOfReplicas must be 1 to 20"},
	{"Volume", "numberOfReplicas: three", "must be of type integer"},
	{"Volume", "snapshotMaxCount: 1", "spec.snapshotMaxCount must be 2 to 250"},
	{"Volume", "snapshotMaxCount: 251", "spec.snapshotMaxCount must be 2 to 250"},
	{"Volume", "snapshotMaxCount: -1", "spec.snapshotMaxCount must be 2 to 250"},
	{"Volume", `snapshotMaxSize: "-1"`, "spec.snapshotMaxSize must be a number of bytes"},
	{"Volume", "snapshotMaxSize: 1Ti", "spec.snapshotMaxSize must be a number of bytes, 0 (no limit) or more, as a string without unit"},
	{"Volume", "staleReplicaTimeout: -1", "spec.staleReplicaTimeout must be 0 or more minutes"},
	{"Volume", "nvmeTcpNrIoQueues: -1", "spec.nvmeTcpNrIoQueues must be 0 to 128 queues"},
	{"Volume", "ublkNumberOfQueue: 129", "spec.ublkNumberOfQueue must be 0 to 128 queues"},
	{"Volume", "ublkQueueDepth: -1", "spec.ublkQueueDepth must be 0 to 4096 requests"},
	{"Volume", "rebuildConcurrentSyncLimit: 6", "spec.rebuildConcurrentSyncLimit must be 0 to 5"},
	{"Volume", "replicaRebuildingBandwidthLimit: -1", "spec.replicaRebuildingBandwidthLimit must be 0 or more MB"},
	{"Volume", "revertRequestedAt: yesterday", "spec.revertRequestedAt must be an RFC 3339 time"},
	{"Volume", `revertRequestedAt: "2026-01-31"`, "spec.revertRequestedAt must be an RFC 3339 time"},
	{"Volume", `revertRequestedAt: "2026-01-31 09:30:00"`, "spec.revertRequestedAt must be an RFC 3339 time"},
	{"Volume", "dataSource: other", "spec.dataSource must be vol://<volume> or snap://<volume>/<snapshot>"},
	{"Volume", "dataSource: vol://", "spec.dataSource must be"},
	{"Volume", "dataSource: vol://a/b", "spec.dataSource must be"},
	{"Volume", "dataSource: snap://a", "spec.dataSource must be"},
	{"Volume", "dataSource: snap://a/b/c", "spec.dataSource must be"},
	{"Volume", `fromBackup: "s3://bucket@region/"`, "spec.fromBackup must be the URL of a backup"},
	{"Volume", `fromBackup: "s3://bucket@region/?backup=b"`, "spec.fromBackup must be the URL of a backup"},
	{"Volume", `fromBackup: "s3://bucket@region/?volume=v"`, "spec.fromBackup must be the URL of a backup"},
	{"Volume", "fromBackup: backup-1", "spec.fromBackup must be the URL of a backup"},
	{"Volume", "Standby: true", "name it in spec.fromBackup"},
	{"Volume", `nodeSelector: [""]`, "a tag in spec.nodeSelector must not be empty"},
	{"Volume", `diskSelector: [ssd, ""]`, "a tag in spec.diskSelector must not be empty"},
	{"Volume", "dataLocality: strict-local, numberOfReplicas: 3", "set spec.numberOfReplicas to 1"},
	{"Volume", "dataLocality: strict", "Unsupported value"},
	{"Volume", "migratable: true", "set spec.accessMode to rwx"},
	{"Volume", "migratable: true, accessMode: rwo", "set spec.accessMode to rwx"},
	{"Volume", "accessMode: ReadWriteOnce", "Unsupported value"},
	{"Volume", "frontend: nvmf", "only for spec.dataEngine v2"},
	{"Volume", "frontend: ublk, dataEngine: v1", "only for spec.dataEngine v2"},
	{"Volume", "frontend: iscsi, dataEngine: v2", "only for spec.dataEngine v1"},
	{"Volume", "frontend: iSCSI", "Unsupported value"},
	{"Volume", "dataEngine: v3", "Unsupported value"},
	{"Volume", "cloneMode: fast", "Unsupported value"},
	{"Volume", "backupBlockSize: 2Mi", "Unsupported value"},
	{"Volume", "backupCompressionMethod: zstd", "Unsupported value"},
	{"Volume", "freezeFilesystemForSnapshot: yes", "must be of type string"},
	{"Volume", "freezeFilesystemForSnapshot: always", "Unsupported value"},
	{"Volume", "offlineRebuilding: true", "must be of type string"},
	{"Volume", "offlineRebuilding: always", "Unsupported value"},
	{"Volume", "replicaAutoBalance: on", "must be of type string"},
	{"Volume", "replicaAutoBalance: always", "Unsupported value"},
	{"Volume", "replicaSoftAntiAffinity: maybe", "Unsupported value"},
	{"Volume", "replicaZoneSoftAntiAffinity: maybe", "Unsupported value"},
	{"Volume", "replicaDiskSoftAntiAffinity: maybe", "Unsupported value"},
	{"Volume", "snapshotDataIntegrity: always", "Unsupported value"},
	{"Volume", "unmapMarkSnapChainRemoved: always", "Unsupported value"},
	{"Volume", "restoreVolumeRecurringJob: always", "Unsupported value"},
	{"Volume", "dataLayout: {dataChunks: -1}", "spec.dataLayout.dataChunks must be 0 or more"},
	{"Volume", "dataLayout: {parityChunks: -1}", "spec.dataLayout.parityChunks must be 0 or more"},
	{"Volume", "dataLayout: {stripSizeKB: -4}", "spec.dataLayout.stripSizeKB must be 0 or more KiB"},
	{"Volume", "dataLayout: {mode: raid5}", "Unsupported value"},
	{"Volume", "dataLayout: {type: striped}", "Unsupported value"},
	{"Volume", "backingImage: My Image", "spec.backingImage must be the name of a BackingImage"},
	{"Volume", "topologyRequirement: [{zone: zone 1}]", "a zone in spec.topologyRequirement must be the value of the label"},
	{"Volume", "topologyRequirement: [{region: region/1}]", "a region in spec.topologyRequirement must be the value of the label"},
	{"Node", "name: Node 1", "spec.name must be the name of a Kubernetes node"},
	{"BackingImage", `diskSelector: [""]`, "a tag in spec.diskSelector must not be empty"},
	{"BackingImage", `nodeSelector: [a, ""]`, "a tag in spec.nodeSelector must not be empty"},
	{"BackingImage", "secret: My Secret", "spec.secret must be the name of a Secret"},
	{"BackingImage", "secretNamespace: My Namespace", "spec.secretNamespace must be the name of a namespace"},
	{"BackingImage", "checksum: " + strings.Repeat("a", 129), "Too long"},
	{"Volume", `image: "an image"`, "spec.image must be one image"},
	{"Volume", "image: " + strings.Repeat("i", 1025), "Too long"},
	{"Volume", "backupTargetName: Default", "spec.backupTargetName must be the name of a BackupTarget"},
	{"Volume", `backupTargetName: "s3://bucket@region/"`, "spec.backupTargetName must be the name of a BackupTarget"},
	{"Volume", "revertToSnapshot: before the upgrade", "spec.revertToSnapshot must be the name of a snapshot"},
	{"Volume", "revertToSnapshot: volume-head", "volume-head is what the volume has now"},
	{"Volume", "revertToSnapshot: " + strings.Repeat("s", 254), "Too long"},
	{"Volume", "diskSelector: [" + strings.Repeat("a, ", 256) + "a]", "Too many"},
	{"Volume", "nodeSelector: [" + strings.Repeat("a, ", 256) + "a]", "Too many"},
	{"Volume", "topologyRequirement: [" + strings.Repeat("{zone: a}, ", 257) + "]", "Too many"},
	{"Volume", "dataSource: vol://" + strings.Repeat("v", 1019), "Too long"},
	{"Volume", `fromBackup: "s3://t?backup=b&volume=` + strings.Repeat("v", 4096) + `"`, "Too long"},
	{"VolumeAttachment", ofTicket("parameters: {disableFrontend: yes}"), "must be of type string"},
	{"VolumeAttachment", ofTicket(`parameters: {disableFrontend: "yes"}`),
		"parameter disableFrontend of a ticket must be true, false or any"},
	{"VolumeAttachment", ofTicket(`parameters: {disableFrontend: "True"}`),
		"parameter disableFrontend of a ticket must be true, false or any"},
	{"VolumeAttachment", ofTicket("parameters: {expiresAt: tomorrow}"), "parameter expiresAt of a ticket must be an RFC 3339 time"},
	{"VolumeAttachment", ofTicket(`parameters: {expiresAt: "1767225600"}`), "parameter expiresAt of a ticket must be an RFC 3339 time"},
	{"VolumeAttachment", "volume: NAME, attachmentTickets: {a: {id: a, type: csi-atacher}}", "type of a ticket is not known"},
	{"VolumeAttachment", "volume: NAME, attachmentTickets: {a: {id: a, type: CSI}}", "type of a ticket is not known"},
	{"VolumeAttachment", "volume: NAME, attachmentTickets: {a: {id: a, type: longhorn-api, nodeID: Node 1}}",
		"nodeID of a ticket must be the name of a node"},
	{"VolumeAttachment", ofTicket("parameters: {" + manyLabels(33) + "}"), "Too many"},
	{"VolumeAttachment", "volume: NAME, attachmentTickets: {a: {id: a, type: " + strings.Repeat("t", 64) + "}}", "Too long"},
	{"VolumeAttachment", strings.ReplaceAll("volume: NAME, attachmentTickets: {ID: {id: ID}}", "ID", strings.Repeat("i", 254)), "Too long"},
	{"Node", "disks: {fast: {diskType: filesystem, path: var/lib/longhorn}}", "path of a disk must be absolute"},
	{"Node", `disks: {fast: {diskType: block, path: "0000:00:1e"}}`, "or a PCI address"},
	{"Node", "disks: {fast: {diskType: ssd, path: /dev/sdb}}", "Unsupported value"},
	{"Node", "disks: {fast: {diskDriver: virtio, path: /dev/sdb}}", "Unsupported value"},
	{"Node", "disks: {fast: {path: /disk}, slow: {path: /disk}}", "two disks of a node must not have the same path"},
	{"Node", `disks: {fast: {diskType: filesystem, path: "0000:00:1e.0"}}`, "a PCI address is the path of a block disk (v2)"},
	{"Node", `disks: {fast: {path: "0000:00:1e.0"}}`, "set diskType to block, or path to a directory"},
	{"Node", "disks: {fast: {diskType: filesystem, diskDriver: aio, path: /disk}}", "diskDriver is only for block disks (v2)"},
	{"Node", "disks: {fast: {storageReserved: 1000000000000000000, path: /disk}}", "such as 10737418240 for 10 Gi"},
	{"Node", "instanceManagerCPURequest: 1000001", "spec.instanceManagerCPURequest must be 0 to 1000000 thousandths of a core"},
	{"Node", "disks: {fast: {path: /" + strings.Repeat("d", 512) + "}}", "Too long"},
	{"Node", "disks: {fast: {path: /disk, tags: [" + strings.Repeat("a, ", 64) + "a]}}", "Too many"},
	{"Node", "disks: {fast: {path: /disk, tags: [" + strings.Repeat("a", 257) + "]}}", "Too long"},
	{"Node", "tags: [" + strings.Repeat("a, ", 256) + "a]", "Too many"},
	{"Node", "disks: {" + strings.ReplaceAll(manyLabels(129), "x", "{}") + "}", "Too many"},
	{"Node", "disks: {fast: {storageReserved: -1, path: /disk}}", "storageReserved of a disk must be 0 or more bytes"},
	{"Node", "disks: {fast: {storageReserved: 10Gi, path: /disk}}", "must be of type integer"},
	{"Node", `disks: {fast: {path: /disk, tags: [""]}}`, "a tag of a disk must not be empty"},
	{"Node", `tags: [""]`, "a tag in spec.tags must not be empty"},
	{"Node", "instanceManagerCPURequest: -100", "spec.instanceManagerCPURequest must be 0 to 1000000 thousandths of a core"},
	{"RecurringJob", "retain: -3", "spec.retain must be 0 to 250"},
	{"RecurringJob", "retain: 251", "spec.retain must be 0 to 250"},
	{"RecurringJob", "concurrency: -1", "spec.concurrency must be 0 or more"},
	{"RecurringJob", "cron: daily", "spec.cron must be five fields"},
	{"RecurringJob", `cron: "* * * *"`, "spec.cron must be five fields"},
	{"RecurringJob", `cron: "0 0 * * * *"`, "spec.cron must be five fields"},
	{"RecurringJob", `cron: "@fortnightly"`, "or @daily, or @every 6h"},
	{"RecurringJob", "retentionPolicy: age-based", "needs spec.retainAge"},
	{"RecurringJob", "retentionPolicy: by-age", "Unsupported value"},
	{"RecurringJob", "retainAge: 3 days", "spec.retainAge must be a duration"},
	{"RecurringJob", "retainAge: -72h", "spec.retainAge must be a duration"},
	{"RecurringJob", `groups: [""]`, "a group in spec.groups must not be empty"},
	{"RecurringJob", "groups: [my group]", "a group in spec.groups must fit into a label"},
	{"RecurringJob", "groups: [" + strings.Repeat("g", 64) + "]", "a group in spec.groups must fit into a label"},
	{"RecurringJob", "groups: [" + strings.Repeat("g", 254) + "]", "Too long"},
	{"RecurringJob", "groups: [" + strings.Repeat("a, ", 256) + "a]", "Too many"},
	{"RecurringJob", `cron: "` + strings.Repeat(" ", 257) + `@daily"`, "Too long"},
	{"RecurringJob", "parameters: {full-backup-interval: often}", "must be a whole number of runs"},
	{"RecurringJob", `parameters: {full-backup-interval: "-1"}`, "must be a whole number of runs"},
	{"RecurringJob", "parameters: {" + manyLabels(65) + "}", "Too many"},
	{"RecurringJob", "retainAge: " + strings.Repeat("1h", 33), "Too long"},
	{"RecurringJob", "task: snapshots", "Unsupported value"},
	{"BackupTarget", "backupTargetURL: not a url", "spec.backupTargetURL must be a URL"},
	{"BackupTarget", "backupTargetURL: bucket@region", "spec.backupTargetURL must be a URL"},
	{"BackupTarget", `backupTargetURL: "ftp://host/path"`, "spec.backupTargetURL must be a URL"},
	{"BackupTarget", "pollInterval: soon", "spec.pollInterval must be a duration"},
	{"BackupTarget", `pollInterval: "300"`, "spec.pollInterval must be a duration"},
	{"BackupTarget", "pollInterval: " + strings.Repeat("1h", 33), "Too long"},
	{"BackupTarget", "backupTargetURL: s3://" + strings.Repeat("b", 4096), "Too long"},
	{"BackupTarget", "credentialSecret: My Secret", "spec.credentialSecret must be the name of a Secret"},
	{"BackupTarget", "credentialSecret: default/s3", "spec.credentialSecret must be the name of a Secret"},
	{"BackupTarget", "syncRequestedAt: now", "spec.syncRequestedAt must be an RFC 3339 time"},
	{"Backup", "syncRequestedAt: now", "spec.syncRequestedAt must be an RFC 3339 time"},
	{"Backup", "snapshotName: before the upgrade", "spec.snapshotName must be the name of a Snapshot"},
	{"Backup", "snapshotName: volume-head", "take a Snapshot first"},
	{"Backup", "backupMode: differential", "Unsupported value"},
	{"Backup", `backupBlockSize: "4096"`, "Unsupported value"},
	{"EngineImage", `image: ""`, "spec.image must be one image"},
	{"EngineImage", `image: "an image"`, "spec.image must be one image"},
	{"Replica", "failedAt: yesterday", "spec.failedAt must be an RFC 3339 time"},
	{"Replica", `failedAt: "2026-01-31"`, "spec.failedAt must be an RFC 3339 time"},
	{"BackingImage", "minNumberOfCopies: -1", "spec.minNumberOfCopies must be 0 or more"},
	{"BackingImage", "checksum: abc", "spec.checksum must be the SHA-512"},
	{"BackingImage", "dataEngine: v3", "Unsupported value"},
	{"BackingImage", "sourceType: ftp", "Unsupported value"},
}

// manifest is the object by the name; NAME in its spec becomes that name.
func (b badValue) manifest(name string) string {
	return strings.ReplaceAll(fmt.Sprintf("{kind: %s, metadata: {name: NAME}, spec: {%s}}", b.kind, b.spec), "NAME", name)
}

func TestAValueThatNobodyCanMeanIsRefusedWithASentence(t *testing.T) {
	w := newWriter(t)
	for n, b := range badValues {
		t.Run(b.kind+" "+b.spec, func(t *testing.T) {
			_, err := writer{t: t, client: w.client, namespace: w.namespace}.create(b.manifest(fmt.Sprintf("bad-%d", n)))
			requireRefused(t, err, b.shows)
		})
	}
	t.Run("names of volumes that replicas cannot bear", func(t *testing.T) {
		_, err := newWriter(t).create("{kind: Volume, metadata: {name: v12345678901234567890123456789012345678901234567890123}, spec: {}}")
		requireRefused(t, err, "at most 52 characters")
	})
	t.Run("names of jobs that no label can name", func(t *testing.T) {
		_, err := newWriter(t).create("{kind: RecurringJob, metadata: {name: " + strings.Repeat("j", 64) + "}, spec: {}}")
		requireRefused(t, err, "the name of a RecurringJob must have at most 63 characters")
	})
}

// What was accepted before a rule came stays usable: it is labelled, another field of its spec is changed, and its status is written.
func TestAValueOfBeforeItsRuleHoldsUpNothingElse(t *testing.T) {
	w, takeOver := olderCluster(t)
	kept := map[int]bool{}
	for n, b := range badValues {
		_, err := w.create(b.manifest(fmt.Sprintf("bad-%d", n)))
		kept[n] = err == nil // a value of another type was never taken
	}
	takeOver()
	for n, b := range badValues {
		if !kept[n] {
			continue
		}
		t.Run(b.kind+" "+b.spec, func(t *testing.T) {
			w := writer{t: t, client: w.client, namespace: w.namespace}
			object := parse(t, w.namespace, b.manifest(fmt.Sprintf("bad-%d", n)))
			require.NoError(t, w.merge(object, "metadata: {labels: {seen: by-us}}"))
			require.NoError(t, w.merge(object, "spec: {somethingElse: x}"))
			if b.kind == "Node" && strings.Contains(b.spec, "fast:") {
				require.NoError(t, w.merge(object, "spec: {disks: {fast: {allowScheduling: true}}}"))
			}
			require.NoError(t, w.mergeStatus(object, "status: {ownerID: x}"))
			require.NoError(t, w.client.Delete(t.Context(), object))
		})
	}
}
