package target

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unsafe"
)

// DeviceContent reaches volumes through the block devices that their frontends make. The suite must then run where the devices are: on the
// node
// of the managers, or with Prefix where the node's root is mounted.
type DeviceContent struct {
	Prefix string
	// Here are the addresses of the managers of this node.
	Here []string
}

// Reaches reports whether the manager is of this node.
func (d DeviceContent) Reaches(m *Manager) bool { return slices.Contains(d.Here, m.Host) }

// Write writes past every cache.
func (d DeviceContent) Write(ctx context.Context, v Volume, block int64, text string) error {
	buffer := alignedBlock()
	copy(buffer, text)
	return d.on(ctx, v, os.O_RDWR, func(f *os.File) error {
		_, err := f.WriteAt(buffer, block*BlockSize)
		return err
	})
}

// Read reads past every cache.
func (d DeviceContent) Read(ctx context.Context, v Volume, block int64) (string, error) {
	buffer := alignedBlock()
	err := d.on(ctx, v, os.O_RDONLY, func(f *os.File) error {
		_, err := f.ReadAt(buffer, block*BlockSize)
		return err
	})
	if err != nil {
		return "", err // after the end of ctx the kernel may still fill the buffer
	}
	return textOf(buffer), nil
}

// on opens the device and does the I/O; a device that does not answer keeps a goroutine until it does.
func (d DeviceContent) on(ctx context.Context, v Volume, flag int, do func(*os.File) error) error {
	if !strings.HasPrefix(v.Endpoint, "/") {
		return fmt.Errorf("the endpoint %q of volume %s is no block device", v.Endpoint, v.Name)
	}
	done := make(chan error, 1)
	go func() {
		f, err := os.OpenFile(filepath.Join("/", d.Prefix, v.Endpoint), flag|syscall.O_DIRECT|syscall.O_SYNC, 0)
		if err != nil {
			done <- err
			return
		}
		done <- errors.Join(do(f), f.Close())
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return fmt.Errorf("%w: %w", errWaits, ctx.Err())
	}
}

// alignedBlock is a block of zeros that direct I/O accepts.
func alignedBlock() []byte {
	raw := make([]byte, 2*BlockSize)
	skip := 0
	if rest := int(uintptr(unsafe.Pointer(&raw[0])) % BlockSize); rest != 0 {
		skip = BlockSize - rest
	}
	return raw[skip : skip+BlockSize]
}
