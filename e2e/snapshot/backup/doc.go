// Package backup plays the scenarios of backups (S14): taken, restored, refused, interrupted, deleted. Data is compared
// in the directory that plays the target, and calls are counted in the simulator's journal.
package backup
