// Package replicadata decides who has the directory of a v1 replica: the premise of every removal of such a directory. The binaries that
// approve or execute a removal read the objects uncached and ask here. Unknown is never treated as empty.
package replicadata
