// Package recurring decides what a RecurringJob does now: whether a run is due, which snapshots of it are to be asked for,
// which older ones are surplus, and what its status says.
//
//	idle ──(a time of its cron has passed)──> currentRun is noted ──(every volume was served)──> lastRun is noted, idle
//
// A run is noted before the first Snapshot of it is made, and a Snapshot's name follows from job, run and volume. So a
// process that dies makes nothing twice, and its successor goes on where it was. Of any number of times that passed while
// no controller was running, or while a run was under way, the last one is made good, once.
//
// It knows nothing of how a snapshot is taken: that is what package snapshot decides about each.
package recurring
