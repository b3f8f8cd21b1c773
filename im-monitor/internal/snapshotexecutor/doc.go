// Package snapshothands carries out what package enginesnapshot decides, as a part of each poll of an engine: one poll of a
// time is done per engine, and so is one call. It makes Snapshot objects for snapshots that have none, reports what became of
// those that were asked for, takes and removes snapshots.
//
// Right before a call the Engine, the Volume and each Snapshot are read uncached. What came of a call is what the
// next poll sees; that comes at once.
package snapshotexecutor
