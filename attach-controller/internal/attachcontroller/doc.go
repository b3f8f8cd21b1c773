// Package attachcontroller applies the decisions of package attach: for each volume it reads a World, calls Decide, and does its steps:
// the answers of the VolumeAttachment, and Volume.spec, in the order of the verdict. It alone creates VolumeAttachments, with the tickets
// of a volume that is taken over, and drops their finalizer.
//
// Nothing is polled. A change of a Volume, its VolumeAttachment, their nodes or, while a volume migrates, its engines enqueues it, and
// only if the core reads what changed. A ticket reaches Volume.spec in one write.
package attachcontroller
