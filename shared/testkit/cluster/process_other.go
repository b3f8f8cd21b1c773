//go:build !linux

package cluster

import "syscall"

// serverAttributes keep a terminal's Ctrl-C from the server. This kernel cannot tie its life to its starter's; the
// directory's watchdog does (see ownedDir).
func serverAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true}
}
