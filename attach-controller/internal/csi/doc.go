// Package csi decides for one storage.k8s.io VolumeAttachment of the CSI driver driver.longhorn.io what the external-attacher would: it
// turns the VolumeAttachment into an attachment ticket, and the ticket's answer into status.attached, attachError and detachError. It
// knows neither other tickets nor how the volume is attached: it reads the ticket's answer and the Longhorn Volume.
//
//	            +---------- refused: attachError, no ticket
//	            v
//	wanted --> finalizers of VolumeAttachment and PersistentVolume, node id --> ticket --> answered: attached=true
//	                                                                              |
//	deleted --> ticket removed --> volume has left the node --> attached=false --> finalizer dropped
//
// Finalizers are written before the ticket, and dropped after the volume has left the node, so that no object is lost while the volume is
// attached. A volume has left a node when neither its spec nor its status has that node, when another ticket keeps it there, when the node
// is gone or out of service, or when the volume is gone.
//
// It is scenario A13 of docs/attach-rules.md: Kubernetes attaches and detaches.
package csi
