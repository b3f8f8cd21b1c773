package replica

import (
	"maps"
	"time"

	"drover.dev/drover/attach-controller/internal/abandoned"
	"drover.dev/drover/attach-controller/internal/placement"
	"drover.dev/drover/shared/api/v1beta2"
)

// Approval is the wanted condition DataRemovalApproved of one replica, and its wanted status.lookRequestedAt.
type Approval struct {
	Replica *v1beta2.Replica
	v1beta2.Condition
	LookRequestedAt string
}

// Patch changes keys of one replica's spec; it carries the resourceVersion that was evaluated.
type Patch struct {
	Replica *v1beta2.Replica
	Spec    map[string]any
}

// Deletion deletes one replica by policy; it carries the resourceVersion that was evaluated.
type Deletion struct {
	Replica *v1beta2.Replica
	Why     string
}

// Verdict is the result of one evaluation of the World.
type Verdict struct {
	// Create are new replicas, one for each place.
	Create []placement.Disk
	// Engine is the name of the engine that new replicas belong to, Image what they run.
	Engine, Image string
	// Rebuild reports whether what is created or taken back is rebuilt from a healthy replica.
	Rebuild bool
	// Patches are one for each replica at most.
	Patches []Patch
	Deletes []Deletion
	// Approvals are those that changed.
	Approvals []Approval
	// Abandoned are records of instances that may still run of those in Release; they are written before.
	Abandoned []abandoned.Record
	// Release are deleted replicas that nothing is left of: their finalizer is dropped.
	Release []*v1beta2.Replica
	// OutOfReach lists the replicas of Release whose v1 directory may be on a node that does not exist any more.
	OutOfReach []*v1beta2.Replica
	// Poll requests an engine poll: it is the wanted Engine.spec.lookRequestedAt; empty requests none. It is written after the approvals,
	// one of which records it.
	Poll string
	// Scheduled is the volume's condition; nil leaves it.
	Scheduled *v1beta2.Condition
	// Failures counts the failed rebuilds of the volume; nil: no rebuild failed. It is stored before a failed replica is used again or
	// deleted.
	Failures *v1beta2.RebuildFailures
	// AcceptedSize is the size in bytes that engine and replicas may get from now on; zero leaves what was accepted.
	AcceptedSize int64
	// WaitsFor are nodes with too many rebuilds.
	WaitsFor []string
	// RequeueAt is when time alone changes the verdict; zero means never.
	RequeueAt time.Time
}

// patch changes one replica: several changes become one write.
func (v *Verdict) patch(r *v1beta2.Replica, spec map[string]any) {
	for _, p := range v.Patches {
		if p.Replica == r {
			maps.Copy(p.Spec, spec)
			return
		}
	}
	v.Patches = append(v.Patches, Patch{r, spec})
}

func (v *Verdict) requeueAt(at time.Time) {
	if v.RequeueAt.IsZero() || at.Before(v.RequeueAt) {
		v.RequeueAt = at
	}
}
