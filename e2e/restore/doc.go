// Package restore tells what happens when etcd is restored to an earlier state under running controllers and writers, with auto deletion
// on: nothing that was made since the backup is destroyed [ORP-5].
package restore
