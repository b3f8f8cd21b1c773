// Package orphancontroller executes the verdicts of package orphan. It has two controllers over one key, (instance
// manager, instance name):
//
//   - the evaluation creates, updates and withdraws Orphan objects. An Orphan is created only after a re-verification, a fresh
//     list and an uncached read of the claim, both begun after the first verdict, agrees. It is the one writer of the
//     status that im-monitor owns on an Orphan, including the evidence and the failures of calls;
//   - the executor deletes the instances of approved Orphans. Right before each call the same evaluation runs on uncached
//     objects and a list begun after the approval; the call carries the UUID, goes out within two seconds of the last
//     read and ends before the lease could. The result of an attempt is passed to the evaluation, which writes it.
//
// Neither deletes an Orphan or touches its finalizer: that is the orphan-controller's.
//
// All memory here may be lost: a new process reads everything again. It waits for the post-election delay first: while a call of the
// leader before it may still be executed, it does nothing about an Orphan that is being deleted.
package orphancontroller
