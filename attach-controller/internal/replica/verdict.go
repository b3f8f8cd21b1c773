package replica

import (
	"maps"
	"time"

	"drover.dev/drover/attach-controller/internal/abandoned"
	"drover.dev/drover/attach-controller/internal/placement"
	"drover.dev/drover/shared/api/v1beta2"
)

// Approval is what the condition DataRemovalApproved of one replica shall say.
type Approval struct {
	Replica *v1beta2.Replica
	v1beta2.Condition
}

// Patch changes keys of one replica's spec; it carries the version that was judged.
type Patch struct {
	Replica *v1beta2.Replica
	Spec    map[string]any
}

// Deletion ends one replica by policy; it carries the version that was judged.
type Deletion struct {
	Replica *v1beta2.Replica
	Why     string
}

// Verdict is everything that one look at the World leads to.
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
	// Abandoned are records of what may still run of those in Release; they are written before.
	Abandoned []abandoned.Record
	// Release are deleted replicas that nothing is left of: their finalizer goes.
	Release []*v1beta2.Replica
	// PollAt asks for a look at the engine that is not older; zero asks for none.
	PollAt time.Time
	// Scheduled is the volume's condition; nil leaves it.
	Scheduled *v1beta2.Condition
	// AcceptedSize is the size in bytes that engine and replicas may be told from now on; zero leaves what was accepted.
	AcceptedSize int64
	// WaitsFor are nodes where too much is being rebuilt.
	WaitsFor []string
	// RequeueAt is when time alone changes the verdict; zero is never.
	RequeueAt time.Time
}

// patch changes one replica: what is said of it twice is written once.
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
