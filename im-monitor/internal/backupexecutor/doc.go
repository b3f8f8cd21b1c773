// Package backupexecutor executes the decisions of package backup, as a part of each poll of an engine: one poll at a time
// per engine, and one call at a time. It follows the backups that engines copy, requests those that are approved from engines,
// and records the result on the BackupTarget.
//
// Right before a call the Engine, the Volume, the Backup and the BackupTarget are read uncached, and the Backup is
// written as Pending, with the run of the engine: the next leader polls that run first.
package backupexecutor
