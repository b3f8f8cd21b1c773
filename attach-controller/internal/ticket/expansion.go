package ticket

import "drover.dev/drover/shared/api/v1beta2"

// expansion holds a volume until its engine has grown to the size that is wanted. A volume without an engine gets one
// of the right size.
func expansion(w World, _ []wish) []wish {
	if w.Engine == nil {
		return nil
	}
	size := w.Engine.Status.CurrentSize
	if size == 0 {
		size = w.Engine.Spec.VolumeSize
	}
	if size == 0 || w.Volume.Spec.Size <= size {
		return nil
	}
	return []wish{w.ofVolume(v1beta2.AttacherExpansion, v1beta2.TicketValueAny)}
}
