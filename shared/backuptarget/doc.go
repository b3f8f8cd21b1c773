// Package backuptarget reads the credentials of a BackupTarget as engines take them: environment variables, as KEY=VALUE. What
// they are is in no message and in no log.
package backuptarget
