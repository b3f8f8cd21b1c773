package model

// fault is a mistake planted into a shell. The check is worth something only if each of them violates an invariant.
type fault string

const (
	noFault fault = ""
	// deletionWithoutUUID: the hands neither compare the UUID nor send it.
	deletionWithoutUUID fault = "a deletion without UUID"
	// evaluatedFromStaleCache: the check before the call reads the Replica from the cache.
	evaluatedFromStaleCache fault = "a judgement from a stale cache"
	// finalizerDroppedOnError: orphan-controller takes a failed cleanup for a finished one.
	finalizerDroppedOnError fault = "a finalizer dropped on error"
	// cleanupOnClaimedData: the hands always ask for cleanup.
	cleanupOnClaimedData fault = "cleanupRequired on claimed data"
	// unknownTakenForEmpty: a list that could not be read counts as an empty one.
	unknownTakenForEmpty fault = "unknown taken for empty"
	// withdrawalExecuted: the hands take any deleted orphan for one that somebody wants gone.
	withdrawalExecuted fault = "a withdrawal executed as a deletion"
	// absenceTakenForEvidence: orphan-controller takes an instance without an object for one that was given up.
	absenceTakenForEvidence fault = "absence taken for evidence"
	// endWrittenDuringCall: the judge writes evidence while the hands have a call out.
	endWrittenDuringCall fault = "an end written during a call"
)

// faults are those that any harness must catch, each with the invariant that it must violate.
var faults = map[fault]string{
	deletionWithoutUUID:     "ORP-3",
	evaluatedFromStaleCache: "ORP-2",
	finalizerDroppedOnError: "ORP-4",
	cleanupOnClaimedData:    "ORP-2",
	unknownTakenForEmpty:    "ORP-4",
	withdrawalExecuted:      "ASKED",
	absenceTakenForEvidence: "ORP-5",
}
