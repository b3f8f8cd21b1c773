package snapshot

import "drover.dev/drover/shared/api/v1beta2"

// Filling states why nothing is taken of a volume now: it gets its data from elsewhere, and an engine restores only into a volume with one
// snapshot beside its head at most. Empty: it does not.
func Filling(v *v1beta2.Volume) (reason, message string) {
	switch s := v.Status; {
	case v.Spec.Standby:
		return v1beta2.ReasonRestoring, "Volume " + v.Name +
			" is a standby volume, which follows its backups; activate it (spec.Standby: false), or delete this object."
	case s.RestoreRequired || s.IsStandby:
		return v1beta2.ReasonRestoring, "Volume " + v.Name + " gets its data from a backup; it continues when that is done."
	case s.CloneStatus.State == v1beta2.CloneInitiated:
		return v1beta2.ReasonCloning, "Volume " + v.Name + " gets its data from another volume; it continues when that is done."
	}
	return "", ""
}
