package cluster

import "syscall"

// serverAttributes keep a terminal's Ctrl-C from the server, and let the kernel kill it when its starter dies.
func serverAttributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
