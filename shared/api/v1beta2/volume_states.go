package v1beta2

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

// DataLocalityStrictLocal is the data locality of a volume that runs only where its one replica is.
const DataLocalityStrictLocal = "strict-local"

// Access modes of a volume.
const (
	AccessModeReadWriteOnce    = "rwo"
	AccessModeReadWriteOncePod = "rwop"
	AccessModeReadWriteMany    = "rwx"
)

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
