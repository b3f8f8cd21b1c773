package csisnapshotcontroller

import (
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/volumesnapshot"
	"drover.dev/drover/snapshot-controller/internal/csisnapshot"
)

// The indexes. Each maps an event to the contents that it is about.
const (
	byVolume   = "csisnapshotcontroller.volume"
	bySnapshot = "csisnapshotcontroller.snapshot"
	byBackup   = "csisnapshotcontroller.backup"
	byClass    = "csisnapshotcontroller.class"
)

var indexes = []kube.Index{
	ofOurs(byVolume, func(c csisnapshot.Content) string { volume, _, _ := c.Names(); return volume }),
	ofOurs(bySnapshot, func(c csisnapshot.Content) string { _, name, _ := c.Names(); return name }),
	ofOurs(byBackup, func(c csisnapshot.Content) string { _, _, name := c.Names(); return name }),
	ofOurs(byClass, func(c csisnapshot.Content) string { return c.ClassName }),
}

func ofOurs(field string, key func(csisnapshot.Content) string) kube.Index {
	return kube.IndexBy(&volumesnapshot.Content{}, field, func(obj *volumesnapshot.Content) string {
		if c := csisnapshot.FromContent(obj); c.Ours() {
			return key(c)
		}
		return ""
	})
}
