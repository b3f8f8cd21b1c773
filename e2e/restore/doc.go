// Package restore restores etcd to an earlier state under running controllers and writers, with auto deletion on: nothing that was created
// since the backup is destroyed [ORP-5].
package restore
