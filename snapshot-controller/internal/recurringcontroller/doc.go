// Package recurringcontroller makes the decisions of package recurring true: for each RecurringJob it reads the volumes that
// the job is for and the Snapshots that it made, lets the core decide, and writes the job's status and its Snapshots.
//
// A job is looked at exactly when its next run is due, when it is changed, when labels of a volume that name it change,
// and when one of its Snapshots was taken, failed or went.
package recurringcontroller
