package snapshot

import (
	"strings"

	"drover.dev/drover/shared/api/v1beta2"
)

// cloneModeLinked is the Volume.spec.cloneMode of clones that share their source's data.
const cloneModeLinked = "linked-clone"

// Shared is the snapshot whose data a linked clone shares, as volume/snapshot; empty: the volume shares none.
func Shared(v *v1beta2.Volume) string {
	if v.Spec.CloneMode != cloneModeLinked {
		return ""
	}
	source, ok := strings.CutPrefix(v.Spec.DataSource, "snap://")
	if !ok {
		return ""
	}
	return source
}
