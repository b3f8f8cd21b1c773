// Package directory reads and prepares the directories of v1 disks, and removes directories of replicas there. It opens the directory of a
// disk inside the root of the host, and everything below only beneath that directory: it follows no symbolic link and no mount there, so
// that nothing outside the disk is read or written, whatever lies on the disk.
package directory
