// Package csi decides for one storage.k8s.io VolumeAttachment of the CSI driver driver.longhorn.io what the
// external-attacher would: it turns the wish of Kubernetes into an attachment ticket, and the ticket's answer into
// status.attached, attachError and detachError. It knows neither who else wants the volume nor how it gets there: that is
// decided by the ticket's answer and seen in the Longhorn Volume.
//
//	            +---------- refused: attachError, nothing held
//	            v
//	wanted --> finalizers of VolumeAttachment and PersistentVolume, node id --> ticket --> answered: attached=true
//	                                                                              |
//	deleted --> ticket removed --> volume has left the node --> attached=false --> finalizer dropped
//
// Finalizers stand before the ticket does, and go after the volume has left the node, so that nobody loses the name of
// what he still holds. A volume has left a node when neither its spec nor its status puts it there, when another ticket
// keeps it there, when the node is gone or out of service, or when the volume is.
//
// It implements "Traditional CSI attachment" of the volume attachment document and scenario A13.
package csi
