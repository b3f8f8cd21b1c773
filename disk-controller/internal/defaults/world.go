// Package defaults decides which disks and tags a Node gets that has none. A new Node gets the default disk that im-monitor requested when
// it created the Node. If the setting create-default-disk-labeled-nodes is true, a label of the Kubernetes node requests disks instead.
// Disks and tags of a Node belong to people: a Node that has any keeps them.
package defaults

import (
	"drover.dev/drover/disk-controller/internal/disk"
	"drover.dev/drover/shared/setting"
)

// Labels and annotations that a person writes on a Kubernetes node.
const (
	// LabelCreate is LabelDefault or LabelConfig.
	LabelCreate  = "node.longhorn.io/create-default-disk"
	LabelDefault = "true"
	LabelConfig  = "config"
	// AnnotationDisks is a JSON list of disks, AnnotationTags a JSON list of tags.
	AnnotationDisks = "node.longhorn.io/default-disks-config"
	AnnotationTags  = "node.longhorn.io/default-node-tags"
)

// World is everything that the decision about one Node is made from.
type World struct {
	Node string
	// HasDisks and HasTags report whether the Node has any.
	HasDisks, HasTags bool
	// Request is the annotation by im-monitor that requests the default disk of a new Node; "": there is none.
	Request string
	// Label, Disks and Tags are the label and the annotations of the Kubernetes node.
	Label, Disks, Tags string
	Settings           setting.DefaultDisk
	// V2 reports whether the v2 data engine is on.
	V2 bool
	// Look describes the directory at a path.
	Look func(path string) disk.Sight
}
