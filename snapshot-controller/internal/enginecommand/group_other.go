//go:build !linux

package enginecommand

import "os/exec"

// ownGroup does nothing: the controllers run on Linux.
func ownGroup(*exec.Cmd) {}
