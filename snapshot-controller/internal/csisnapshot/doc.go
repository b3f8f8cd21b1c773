// Package csisnapshot decides what becomes of one VolumeSnapshotContent of the CSI driver driver.longhorn.io: it is the role
// of the csi-snapshotter, played on Longhorn's own objects instead of a driver's calls.
//
// A content that names a volume is to be taken: it gets a Snapshot, and, where its class requests it, a Backup of that, both
// named after the VolumeSnapshot. A content that names a snapshot is found. The common snapshot controller of Kubernetes
// binds contents to VolumeSnapshots, puts the finalizer on them and marks those whose VolumeSnapshot is deleted.
//
//	(content) ─ marked being-created ─ Snapshot made ─ taken ─┬─ snap: ready ─────────────────┐
//	                                                          └─ Backup made ─ handle ─ ready ┴─ unmarked
//	deleted, policy Delete ─ Backup and Snapshot deleted ─ status cleared ─ finalizer dropped
//
// It differs from the csi-snapshotter in what is not visible from outside, or is an improvement: a content that is deleted while its
// snapshot is being taken does not wait for that, because the names of what was made for it are known; deleting a Snapshot
// is done once it is deleted in the API, for its data may have to wait for a newer one.
//
// Every verdict is one write; the event of that write, or of what it set in motion, brings the next.
package csisnapshot
