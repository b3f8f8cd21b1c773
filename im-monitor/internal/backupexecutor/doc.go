// Package backuphands carries out what package backup decides, as a part of each poll of an engine: one poll of a time is
// done per engine, and so is one call. It follows the backups that engines copy, asks engines for those that are approved,
// and notes what that reports of the BackupTarget.
//
// Right before a call the Engine, the Volume, the Backup and the BackupTarget are read uncached, and the Backup is
// noted as Pending, with the run of the engine: whoever leads next asks that run first.
package backupexecutor
