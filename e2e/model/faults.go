package model

// fault is a mutant of a modelled reconciler. The check is useful only if each mutant violates an invariant.
type fault string

const (
	noFault fault = ""
	// deletionWithoutUUID: the executor neither compares the UUID nor sends it.
	deletionWithoutUUID fault = "a deletion without UUID"
	// evaluatedFromStaleCache: the check before the call reads the Replica from the cache.
	evaluatedFromStaleCache fault = "an evaluation from a stale cache"
	// finalizerDroppedOnError: orphan-controller treats a failed cleanup as finished.
	finalizerDroppedOnError fault = "a finalizer dropped on error"
	// cleanupOnClaimedData: the executor always requests cleanup.
	cleanupOnClaimedData fault = "cleanupRequired on claimed data"
	// unknownTakenForEmpty: a list that could not be read counts as an empty one.
	unknownTakenForEmpty fault = "unknown taken for empty"
	// withdrawalExecuted: the executor treats any deleted orphan as a requested deletion.
	withdrawalExecuted fault = "a withdrawal executed as a deletion"
	// absenceTakenForEvidence: orphan-controller treats an instance without an object as abandoned.
	absenceTakenForEvidence fault = "absence taken for evidence"
	// endWrittenDuringCall: the evaluator writes evidence while a call of the executor is in flight.
	endWrittenDuringCall fault = "an end written during a call"
)

// faults are the mutants that the harness must catch, each with the invariant that it must violate.
var faults = map[fault]string{
	deletionWithoutUUID:     "ORP-3",
	evaluatedFromStaleCache: "ORP-2",
	finalizerDroppedOnError: "ORP-4",
	cleanupOnClaimedData:    "ORP-2",
	unknownTakenForEmpty:    "ORP-4",
	withdrawalExecuted:      "ASKED",
	absenceTakenForEvidence: "ORP-5",
}
