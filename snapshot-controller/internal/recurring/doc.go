// Package recurring decides what a RecurringJob does now: whether a run is due, which snapshots of it are to be asked for,
// which older ones are surplus, and what its status contains.
//
//	idle ──(a time of its cron has passed)──> currentRun is noted ──(every volume was served)──> lastRun is noted, idle
//
// A run is noted before the first Snapshot of it is made, and a Snapshot's name follows from job, run and volume. So a
// process that dies makes nothing twice, and its successor continues where it was. Of any number of times that passed while
// no controller was running, or while a run was under way, the last one is made good, once. What was due before the job was
// first seen is not: status.scheduledSince keeps when that was, so that taking a cluster over runs nothing.
//
// A volume's labels name its jobs or, if it is the source, the labels of its PersistentVolumeClaim do.
//
// A volume that is detached when a run reaches it is skipped, unless the settings allow otherwise, and so is one that gets its data from
// elsewhere; what the run began with a volume it ends.
//
// What is surplus is decided for each volume by itself, at any time. A job that removes snapshots does so in its runs.
//
// A job that backs up asks for a Snapshot of each volume and, once that is ready, for a Backup of it under the same name.
//
// It knows nothing of how a snapshot or a backup is taken: that is what packages snapshot and backup decide about each.
package recurring
