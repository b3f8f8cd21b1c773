package v1beta2

import "strconv"

// States of a volume in Volume.status.state.
const (
	VolumeStateCreating  = "creating"
	VolumeStateAttached  = "attached"
	VolumeStateDetached  = "detached"
	VolumeStateAttaching = "attaching"
	VolumeStateDetaching = "detaching"
	VolumeStateDeleting  = "deleting"
)

// Robustness of a volume in Volume.status.robustness.
const (
	VolumeRobustnessHealthy  = "healthy"
	VolumeRobustnessDegraded = "degraded"
	VolumeRobustnessFaulted  = "faulted"
	VolumeRobustnessUnknown  = "unknown"
)

// Modes of a replica in Engine.status.replicaModeMap.
const (
	ReplicaModeRW  = "RW"
	ReplicaModeWO  = "WO"
	ReplicaModeERR = "ERR"
)

// Data localities of a volume. A strict-local one runs only where its one replica is; a best-effort one wants a replica where it is
// attached, beside the others if necessary.
const (
	DataLocalityStrictLocal = "strict-local"
	DataLocalityBestEffort  = "best-effort"
)

// Access modes of a volume.
const (
	AccessModeReadWriteOnce    = "rwo"
	AccessModeReadWriteOncePod = "rwop"
	AccessModeReadWriteMany    = "rwx"
)

// BytesOf is a size in bytes that a status has as text, as of a snapshot or backup; 0 where it is unknown.
func BytesOf(size string) int64 {
	n, err := strconv.ParseInt(size, 10, 64)
	if err != nil {
		return 0
	}
	return n
}

// SizeOf is the size in bytes that the volume's engine and replicas have or may be given: spec.size, except a size that was not accepted
// yet.
func SizeOf(v *Volume) int64 {
	if accepted := v.Status.AcceptedSize; accepted > 0 {
		return min(accepted, v.Spec.Size)
	}
	return v.Spec.Size
}

// EverAttached reports whether the volume was attached once, as far as it remembers: it has data then, whatever it was to be filled from.
func EverAttached(v *Volume) bool {
	return v.Status.CurrentImage != "" || v.Status.LastDegradedAt != ""
}
