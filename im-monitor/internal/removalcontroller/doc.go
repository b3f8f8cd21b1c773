// Package removalcontroller makes the verdicts of package removal true: it destroys the data of v2 Replicas that are being
// deleted, once attach-controller approved that, and writes the condition DataRemoved. It never drops a finalizer.
//
// Right before each call everything is read again: a list begun after the approval was seen, the lists of nodes where
// an engine or another copy of the volume is, and, last, the objects uncached. The call carries the UUID of that
// list, goes out within two seconds of the last read and ends before the lease could. What it did is read from a list begun
// after it, never from its answer.
//
// All memory here may be lost: a new process reads everything again. It waits for the post-election delay first: while a call of the
// leader before it may still be executed, it neither calls nor writes.
package removalcontroller
