// Package csisnapshotcontroller makes the verdicts of package csisnapshot true: it takes the csi-snapshotter's role for the
// CSI driver driver.longhorn.io, under that program's lease, so that the two never act together. In a cluster without
// VolumeSnapshots it waits until their definitions come.
package csisnapshotcontroller
