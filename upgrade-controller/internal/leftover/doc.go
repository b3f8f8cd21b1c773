// Package leftover decides about a node that is cordoned for an upgrade although no upgrade of it exists: a person removed the object's
// finalizer by force. A node is cordoned before anything of it is changed and uncordoned after every target was switched back, so that the
// cordon itself shows that something may be left: relocated targets, also of volumes that were detached or moved since, and the cordon.
//
// It reads nothing and writes nothing; package upgradecontroller does.
package leftover
