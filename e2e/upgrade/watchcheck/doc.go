// Package watchcheck watches over an upgrade while it continues: the API server's objects through watches, so that no version of
// them is missed, and what the data plane holds, looked at many times a second. What it finds violated is kept with the
// moment at which it was so; nothing is asked only at the end.
//
//	UPG-1  each volume has a healthy replica, on paper and in the data plane
//	UPG-2  at most one node is closed for an upgrade, at most one NodeDataEngineUpgrade is under way
//	UPG-3  each attached volume has an engine that reads and writes a replica
//	UPG-4  when a node's upgrade ends, the node is open and no target that it moved is wished elsewhere
package watchcheck
