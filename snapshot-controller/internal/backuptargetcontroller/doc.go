// Package backuptargetcontroller reads backup targets, by the engine's own commands, and keeps BackupVolumes and Backups in step with
// what is there. A reading asks about each volume when it was changed last, and about nothing else of a volume that did not change.
// What it shows of a volume is written in this order: the BackupVolume, each Backup, and then that the volume is read as of that change;
// so a reading that ends between any two writes is continued by the next.
package backuptargetcontroller
