// Package orphancontroller makes the verdicts of package orphan true. It has two controllers over one key, (instance
// manager, instance name):
//
//   - the evaluation creates, updates and withdraws Orphan objects. An Orphan is created only after a re-verification, a fresh
//     list and an uncached read of the claim, both begun after the first verdict, agrees. It is the one writer of the
//     status that im-monitor owns on an Orphan, evidence and failures of the hands included;
//   - the hands delete the instances of approved Orphans. Right before each call the same evaluate runs on uncached
//     objects and a list begun after the approval; the call carries the UUID, goes out within two seconds of the last
//     read and ends before the lease could. What an attempt brought is handed to the evaluation, which writes it.
//
// Neither deletes an Orphan or touches its finalizer: that is the orphan-controller's.
//
// All memory here may be lost: a new process looks again. It waits for the post-election delay first: while a call of the leader before
// it may still be executed, it does nothing about an Orphan that is being deleted.
package orphancontroller
