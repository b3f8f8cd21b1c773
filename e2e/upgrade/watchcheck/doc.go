// Package watchcheck checks the invariants while an upgrade is in progress: it reads the API server's objects through watches, so
// that no version is missed, and polls the data plane many times a second. It records each violation with its time; no invariant
// is checked only at the end.
//
//	UPG-1  each volume has a healthy replica, by its objects and in the data plane
//	UPG-2  at most one node is cordoned for an upgrade, at most one NodeDataEngineUpgrade is in progress
//	UPG-3  each attached volume has an engine that reads and writes a replica
//	UPG-4  when a node's upgrade ends, the node is uncordoned and no target that it moved is requested elsewhere
package watchcheck
