package v1beta2

import (
	"encoding/json"
	"fmt"
)

// AnnotationDefaultDisk on a Node requests its default disk, as a DefaultDiskRequest. im-monitor writes it when it creates the Node;
// disk-controller removes it with the write of the disk, or once the Node has disks.
const AnnotationDefaultDisk = "drover.dev/default-disk"

// DefaultDiskRequest is the value of AnnotationDefaultDisk: the settings that were in force when the Node was created.
type DefaultDiskRequest struct {
	// Path is the directory, or the device of a v2 disk, ReservedPercent the part of it that replicas leave free.
	Path            string `json:"path"`
	ReservedPercent int    `json:"reservedPercent"`
}

// String returns the value of the annotation.
func (r DefaultDiskRequest) String() string {
	text, err := json.Marshal(r)
	if err != nil {
		panic(err) // a string and a number can be encoded
	}
	return string(text)
}

// ParseDefaultDiskRequest reads the value of the annotation.
func ParseDefaultDiskRequest(text string) (DefaultDiskRequest, error) {
	var r DefaultDiskRequest
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return r, fmt.Errorf("it is not the JSON of a request: %w", err)
	}
	if r.ReservedPercent < 0 || r.ReservedPercent > 100 {
		return r, fmt.Errorf("reservedPercent %d is not from 0 to 100", r.ReservedPercent)
	}
	return r, nil
}
