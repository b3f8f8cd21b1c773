package snapshot

import (
	"strings"

	"drover.dev/drover/shared/api/v1beta2"
)

// cloneModeLinked is the Volume.spec.cloneMode of clones that share their source's data.
const cloneModeLinked = "linked-clone"

// Shared is the snapshot whose data a volume needs, as volume/snapshot: a linked clone for as long as it lives, any other one while it is
// copied. Empty: it needs none.
func Shared(v *v1beta2.Volume) string {
	if v.Spec.CloneMode != cloneModeLinked {
		if c := v.Status.CloneStatus; c.State == v1beta2.CloneInitiated && c.Snapshot != "" && v.DeletionTimestamp == nil {
			return c.SourceVolume + "/" + c.Snapshot
		}
		return ""
	}
	source, ok := strings.CutPrefix(v.Spec.DataSource, "snap://")
	if !ok {
		return ""
	}
	return source
}
