// Package attachcontroller makes the decisions of package attach true: for each volume it reads a World, lets the core
// decide, and does its steps: the answers of the VolumeAttachment, and Volume.spec, in the order that the core says. It
// alone creates VolumeAttachments, with the tickets that a volume is taken over with, and drops their finalizer.
//
// Nothing is polled. A Volume, its VolumeAttachment, the nodes that they name and, while a volume migrates, its engines
// wake it, and only where something changed that the core reads. A ticket reaches Volume.spec in one write.
package attachcontroller
