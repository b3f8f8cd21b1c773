package enginecommand

import (
	"os/exec"
	"syscall"
)

// ownGroup lets a command have a process group of its own, all of which is killed with it: drivers of file systems run further commands.
func ownGroup(command *exec.Cmd) {
	command.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	command.Cancel = func() error { return syscall.Kill(-command.Process.Pid, syscall.SIGKILL) }
}
