// Package recurringcontroller makes the decisions of package recurring true. One controller leads the runs: for each RecurringJob
// it reads as many volumes as are worked on at once and what there is of them, lets the core decide, and writes the job's status,
// its Snapshots and its Backups. The other one deletes what a job made of one volume and keeps no longer.
//
// A job is checked exactly when its next run is due, when it is changed, when labels of a volume that name it change, and,
// while a run is under way, when one of its Snapshots was taken, failed or went.
package recurringcontroller
