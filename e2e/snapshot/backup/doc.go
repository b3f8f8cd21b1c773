// Package backup runs the scenarios of backups (S14): taken, restored, refused, interrupted, deleted. Data is compared
// in the directory that is the target, and calls are counted in the simulator's journal.
package backup
