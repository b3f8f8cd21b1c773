// Package backupstores finds for a BackupTarget what the engine's commands need to reach it: the binary, the credentials as they are now,
// and the places of its commands. It also runs the removals of data, one at a time for each target.
package backupstores
