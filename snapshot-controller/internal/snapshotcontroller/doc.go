// Package snapshotcontroller makes the decisions of package snapshot true: for each Snapshot that something happened to
// it reads a World from caches, lets the core decide, and does the one write of the verdict.
//
// What happens to a volume reaches only those of its snapshots that it concerns: of an engine's list the entries that
// changed, of everything else the snapshots that are under way.
package snapshotcontroller
