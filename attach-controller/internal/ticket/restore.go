package ticket

import "drover.dev/drover/shared/api/v1beta2"

// restore holds a volume that still needs data from its backup. Nobody may see what is half there: the frontend is off.
func restore(w World, _ []wish) []wish {
	if !w.Volume.Status.RestoreRequired {
		return nil
	}
	return []wish{w.ofVolume(v1beta2.AttacherRestore, v1beta2.TicketValueTrue)}
}
