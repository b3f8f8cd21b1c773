// Package backupcontroller is the reconciler around package backup: it reads what a Backup depends on, decides, and does the one
// write of the verdict. The event of that write, or of what it set in motion, brings the next.
package backupcontroller
