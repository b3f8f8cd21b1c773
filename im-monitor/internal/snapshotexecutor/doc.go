// Package snapshotexecutor executes the decisions of package enginesnapshot, as a part of each poll of an engine: one poll at a
// time per engine, and one call at a time. It creates Snapshot objects for snapshots that have none, reports the result of
// requests, takes and removes snapshots.
//
// Right before a call the Engine, the Volume and each Snapshot are read uncached. The next poll shows the result of a call, and
// follows at once.
package snapshotexecutor
