package world

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
)

// Lvstore is an lvstore on a simulated device.
type Lvstore struct {
	Name     string            `json:"name"`
	UUID     string            `json:"uuid"`
	Replicas map[string]uint64 `json:"replicas,omitempty"`
}

// Device is a simulated device of a node.
type Device struct {
	Node       string   `json:"node"`
	Path       string   `json:"path"`
	Kind       string   `json:"kind,omitempty"`
	Total      int64    `json:"total,omitempty"`
	Absent     bool     `json:"absent,omitempty"`
	Filesystem string   `json:"filesystem,omitempty"`
	Lvstore    *Lvstore `json:"lvstore,omitempty"`
	Digest     string   `json:"digest,omitempty"`
}

// AddDevice adds a device to a node, and replaces a device with that path.
func (w *World) AddDevice(ctx context.Context, d Device) (Device, error) {
	var made Device
	return made, w.ctl(ctx, http.MethodPost, "/v1/devices", d, &made)
}

// RemoveDevice removes a device for good.
func (w *World) RemoveDevice(ctx context.Context, node, path string) error {
	return w.ctl(ctx, http.MethodDelete, "/v1/devices?"+url.Values{"node": {node}, "path": {path}}.Encode(), nil, nil)
}

// SetDevice lets a device appear or disappear.
func (w *World) SetDevice(ctx context.Context, node, path string, present bool) error {
	return w.ctl(ctx, http.MethodPost, "/v1/devices/present", map[string]any{"node": node, "path": path, "present": present}, nil)
}

// SwapDevices exchanges the paths of two devices of a node.
func (w *World) SwapDevices(ctx context.Context, node, path, other string) error {
	return w.ctl(ctx, http.MethodPost, "/v1/devices/swap",
		map[string]any{"node": node, "path": path, "otherNode": node, "otherPath": other}, nil)
}

// Device reads a device with the digest of its bytes.
func (w *World) Device(ctx context.Context, node, path string) (Device, error) {
	var all []Device
	if err := w.ctl(ctx, http.MethodGet, "/v1/devices?node="+url.QueryEscape(node), nil, &all); err != nil {
		return Device{}, err
	}
	for _, d := range all {
		if d.Path == path {
			return d, nil
		}
	}
	return Device{}, fmt.Errorf("node %s has no device %s", node, path)
}

// Creating reports whether a server of the node creates a disk of that name, or has it in its queue.
func (w *World) Creating(ctx context.Context, node, key string) (bool, error) {
	var all []struct{ Name, State string }
	if err := w.ctl(ctx, http.MethodGet, "/v1/disks?node="+url.QueryEscape(node), nil, &all); err != nil {
		return false, err
	}
	for _, d := range all {
		if d.Name == key && d.State == "creating" {
			return true, nil
		}
	}
	return false, nil
}

// SetDisks changes spec.disks of a Node; a nil disk is removed.
func (w *World) SetDisks(ctx context.Context, node string, disks map[string]any) error {
	return w.patch(ctx, w.NodeObject(node), map[string]any{"spec": map[string]any{"disks": disks}})
}

// ReleaseDisk removes a disk from the node's spec, and waits until the status is without it.
func (w *World) ReleaseDisk(ctx context.Context, node, key string, within time.Duration) error {
	if err := w.SetDisks(ctx, node, map[string]any{key: nil}); err != nil {
		return err
	}
	return w.Wait(ctx, "disk "+key+" to go", within, func(ctx context.Context) (string, error) {
		s, err := w.DiskStatus(ctx, node, key)
		if s.DiskType != "" {
			return fmt.Sprintf("it still exists: %+v", s.Conditions), err
		}
		return "", err
	})
}

// DiskStatus returns the reported status of a disk.
func (w *World) DiskStatus(ctx context.Context, node, key string) (v1beta2.DiskStatus, error) {
	n := w.NodeObject(node)
	err := w.Get(ctx, node, n)
	return n.Status.DiskStatus[key], err
}

// BlockDisk is the spec of a v2 disk.
func BlockDisk(path, initialize string) map[string]any {
	return map[string]any{"diskType": "block", "path": path, "allowScheduling": true, "initialize": initialize}
}
