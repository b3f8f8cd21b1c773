package machine

import (
	"errors"
	"fmt"

	"drover.dev/drover/shared/managerimage/scripts"
)

// Container is how a kubelet starts the process of a pod.
type Container struct {
	// Image is the container's image; empty is the newest one.
	Image string
	// Command takes the place of the image's entry point, which is an init; Arguments begin with the name of a script of the image.
	Command, Arguments []string
	// Environment has the variables by name; those in Addresses have the address of the pod as their value.
	Environment map[string]string
	Addresses   []string
	// Mounts are paths of the host, and Secrets the places of secrets' files, by their paths in the container.
	Mounts  map[string]string
	Secrets map[string]string
	// Metadata is the host path that the container has at /metadata, for records that outlive the pod; empty if it has none.
	Metadata string
}

// ErrEnded marks the error of a container that ended at its start.
var ErrEnded = errors.New("the container ended at its start")

// starts runs the arguments on the scripts of the image, which end the container if they do not know one. A container without arguments, as
// tests make it by hand, starts.
func (c Container) starts() error {
	if len(c.Arguments) == 0 {
		return nil
	}
	if _, err := scripts.Of(c.Image).Start(c.Arguments); err != nil {
		return fmt.Errorf("%w: %w", ErrEnded, err)
	}
	return nil
}
