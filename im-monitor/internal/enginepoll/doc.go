// Package enginepoll polls running engines: it reads what an engine and the objects of its volume report, decides, and makes what follows
// true. A poll is periodic, and comes at once when the engine's spec, one of its replicas' instances, or a request for a snapshot or a
// backup changes.
//
//	observe   reads the engine over gRPC, and the objects from the cache, into facts. It writes nothing.
//	decide    is pure. It asks packages engine, enginesnapshot and backup, in this order, what follows from the facts.
//	apply     writes the engine's status, sends the engine's calls, then those for Snapshots, then one for a Backup.
//
// One poll of an engine runs at a time, and one call. Every call is a guarded call of package execute: right before it the Engine, and the
// Volume, Snapshots, Backup or BackupTarget that it is for, are read uncached; only to take a snapshot the cache suffices, and a purge may
// rest on the reads of the removal before it. A Backup is written as Pending before its call, with the run of the engine: the next leader
// asks that run first. The next poll shows the result of a call, and follows at once.
//
// What this process remembers of an engine (memory.go) may be lost at any time.
package enginepoll
