// Package execute is the protocol of a call that changes what an instance manager runs: a deletion, a start, a snapshot, a backup. Its
// users supply what they read, a pure function that allows the call, and the RPC. One call is one Guard.Do:
//
//  1. Not before: the end of the back-off and of the post-election fencing delay. A server may execute a call of the leader before long
//     after its caller died, so a new leader leaves what is being deleted alone for a while.
//  2. A slot of the instance manager: one that hangs must not occupy all workers.
//  3. The lock of (instance manager, name): a start and a deletion of one name never overlap, and the end of an object is written under the
//     lock, so that the object is not gone while its call may still be executed.
//  4. Evidence: a whole list that began now, and what else the check needs of instance managers. Lists come before objects: what an object
//     says is then at least as new as what was listed.
//  5. Check: the objects uncached, and the pure decision on them and the evidence. A decision on a cache only says that a try is worth it.
//     A request carries the UUID, or the version, that was evaluated here.
//  6. Ahead: what must be on record before the call, so that the next leader finds it after a crash.
//  7. Freshness: the call is sent at most ReadToCall after the check began to read, else the check is repeated, TriesToCall times in all.
//     A process that is paused between this comparison and the call is held up by step 8 alone.
//  8. Send: over the connection of the epoch of the evidence, since another one may lead to another run of the server. Where the
//     check gives a Timeout the deadline counts from the check, too: a process that was paused for longer than ReadToCall and Timeout
//     sends nothing when it continues. Without one (creations, switch-overs, what goes through an engine) nothing but the connection
//     bounds the call. In both cases the context ends with the leadership, and the connection refuses what has an effect once the lease
//     is old.
//  9. Record: the outcome, under the lock, also where the leadership ended during the call. The answer proves nothing about what
//     runs; a list that begins afterwards does.
//
// Calls that are a part of an engine's poll (snapshots, backups) hold the engine's slot and need no lock: one poll of an engine runs at a
// time. Their evidence is the poll.
//
// An error of a call is mapped to an Outcome in one place, OutcomeOf. What a process remembers of its tries (Tries, Memory) may be lost.
package execute
