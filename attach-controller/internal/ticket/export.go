package ticket

import "drover.dev/drover/shared/api/v1beta2"

const (
	sourceTypeExport = "export-from-volume"
	parameterVolume  = "volume-name"
)

// ExportedVolume returns the volume that the data source still reads, or "".
func ExportedVolume(source *v1beta2.BackingImageDataSource) string {
	if source.Spec.SourceType != sourceTypeExport || source.Spec.FileTransferred || source.DeletionTimestamp != nil {
		return ""
	}
	switch source.Status.CurrentState {
	case "ready-for-transfer", "ready", "failed", "failed-and-cleanup":
		return ""
	}
	return source.Spec.Parameters[parameterVolume]
}

// export holds a volume while backing images are exported from it, once for each.
func export(w World, _ []wish) []wish {
	var out []wish
	for i := range w.Exports {
		source := &w.Exports[i]
		if ExportedVolume(source) != w.Volume.Name {
			continue
		}
		x := wish{attacher: v1beta2.AttacherBackingImageData, object: source.Name, frontend: v1beta2.TicketValueAny}
		x.owner, x.ownerUID = Owner{KindDataSource, source.Name}, source.UID
		x.node = w.place(w.tickets()[x.id()].NodeID)
		out = append(out, x)
	}
	return out
}
