// Package csicontroller makes the verdicts of package csi true: it takes the external-attacher's role for the CSI driver
// driver.longhorn.io. It acts only while this process holds that program's lease, so that the two never act together;
// losing the lease stops this part alone, and getting it again looks at everything anew.
package csicontroller
