// Package csicontroller applies the verdicts of package csi: it takes the external-attacher's role for the CSI driver driver.longhorn.io.
// It acts only while this process holds that program's lease, so that the two never act together; losing the lease stops this part alone,
// and acquiring it again enqueues everything.
package csicontroller
