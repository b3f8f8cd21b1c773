package scripts

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Unpacked is an image whose files are in a directory. It runs the image's own scripts in a new root directory, with the shell and the
// tools of this machine, and with stand-ins for each program that would touch a host.
type Unpacked struct{ root string }

// Unpack takes the directory of an image; its scripts are below usr/local/bin.
func Unpack(root string) (Unpacked, error) {
	out := Unpacked{root: root}
	_, err := out.Files()
	return out, err
}

// names lists the scripts of an image that pods use.
var names = []string{"instance-manager", "start-spdk-tgt", "instance-manager-v2-prestop"}

// Files returns the text of the scripts that the image has, by name.
func (u Unpacked) Files() (map[string]string, error) {
	out := map[string]string{}
	for _, name := range names {
		text, err := os.ReadFile(filepath.Join(u.root, "usr", "local", "bin", name))
		switch {
		case err == nil:
			out[name] = string(text)
		case !errors.Is(err, os.ErrNotExist):
			return nil, fmt.Errorf("reading script %s of the image: %w", name, err)
		}
	}
	if out["instance-manager"] == "" {
		return nil, fmt.Errorf("%s has no script usr/local/bin/instance-manager", u.root)
	}
	return out, nil
}

// The host of an unpacked image has eight CPUs. The kubelet pinned PinnedCPUs to the pod.
const (
	onlineCPUs = "0-7"
	PinnedCPUs = "4-7"
)

// Run is the outcome of running a script.
type Run struct {
	// SPDK has the arguments of spdk_tgt, nil if it was not started; Config has the content of the file that its option --json names.
	SPDK   []string
	Config string
	// Daemon has the arguments of longhorn-instance-manager.
	Daemon []string
	// Interrupts is the mask of the CPUs that serve interrupts after the run.
	Interrupts string
	// Calls lists the calls of other programs in order, each with its arguments.
	Calls []string
}

// Start runs the container's arguments. The error has the output of the scripts.
func (u Unpacked) Start(arguments []string) (Run, error) {
	out, err := u.run(arguments)
	if err == nil && out.Daemon == nil {
		err = errors.New("longhorn-instance-manager was not started")
	}
	return out, err
}

// Stop runs the preStop hook. The hook finds SPDK twice, and no longer the third time.
func (u Unpacked) Stop() (Run, error) { return u.run([]string{"instance-manager-v2-prestop"}) }

// program is the stand-in for a program: it notes each call. Each argument has its own line, so that an empty argument is visible.
const program = `#!/bin/sh
{ echo "${0##*/}"; for a; do printf '%s\n' "$a"; done; } >> "/calls/$(printf '%09d' "$(ls /calls | wc -l)")-$$"
`

// programs returns the text of each stand-in by the program's name. The stand-ins for spdk_tgt and the daemon note only their arguments.
// The daemon waits for SPDK, since the scripts start SPDK in the background.
func programs() map[string]string {
	out := map[string]string{
		"spdk_tgt": "#!/bin/sh\nfor a; do printf '%s\\n' \"$a\"; done > /spdk.tmp; mv /spdk.tmp /spdk\n",
		"longhorn-instance-manager": "#!/bin/sh\ncase \" $* \" in *' --spdk-enabled '*) n=0; while ! test -e /spdk && test $n -lt 600; do " +
			"/usr/bin/sleep 0.05; n=$((n+1)); done ;; esac\nfor a; do printf '%s\\n' \"$a\"; done > /daemon\n",
		"sleep": "#!/bin/sh\n", "nvme": program + "echo nqn.2014-08.org.nvmexpress:uuid:00000000-0000-0000-0000-000000000000\n",
		"pgrep": program + "test \"$(grep -lx pgrep /calls/* | wc -l)\" -lt 3\n",
		"ps":    program, "dmsetup": program,
	}
	for _, name := range []string{"mount", "umount", "nsenter", "tgtd", "pkill", "kill", "go-spdk-helper", "exec-logrotate", "logrotate"} {
		out[name] = program
	}
	return out
}

// enter runs in new namespaces. It mounts the programs of this machine and the stand-ins into the root directory, and runs the script
// there.
const enter = `set -e
root=$1; shift
mount --make-rprivate / 2>/dev/null || true
for directory in /usr /bin /lib /lib64 /sbin; do
  if test -L $directory; then ln -s "$(readlink $directory)" "$root$directory"
  elif test -d $directory; then mkdir -p "$root$directory"; mount --rbind $directory "$root$directory"; fi
done
mount --bind "$root/local" "$root/usr/local/bin"
if test -d /etc/alternatives; then mkdir -p "$root/etc/alternatives"; mount --bind /etc/alternatives "$root/etc/alternatives"; fi
mkdir -p "$root/dev"; : > "$root/dev/null"; mount --bind /dev/null "$root/dev/null"
exec chroot "$root" /usr/bin/env -i PATH=/usr/local/bin:/usr/bin:/bin DATA_ENGINE=v2 POD_IP=10.0.0.1 TLS_DIR=/tls-files/ "$@" < /dev/null
`

func (u Unpacked) run(arguments []string) (out Run, err error) {
	root, err := os.MkdirTemp("", "image-")
	if err != nil {
		return Run{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(root)) }()
	if err := u.furnish(root); err != nil {
		return Run{}, err
	}
	flags := []string{"--mount", "--pid", "--fork", "--kill-child"}
	if os.Geteuid() != 0 {
		flags = append(flags, "--user", "--map-root-user")
	}
	command := exec.Command("unshare", slices.Concat(flags, []string{"/bin/sh", "-c", enter, "enter", root}, arguments)...)
	output, err := command.CombinedOutput()
	if err != nil {
		return Run{}, fmt.Errorf("%s: %w: %s", strings.Join(arguments, " "), err, bytes.TrimSpace(output))
	}
	return read(root)
}

// furnish writes the files of the root directory: the scripts, the stand-ins, and the files of a host that the scripts read.
func (u Unpacked) furnish(root string) error {
	files := map[string]string{
		"host/sys/devices/system/cpu/online": onlineCPUs + "\n", "host/proc/irq/default_smp_affinity": "ff\n",
		"host/proc/irq/9/smp_affinity": "ff\n", "host/sys/devices/virtual/workqueue/cpumask": "ff\n",
		"host/sys/class/net/.keep": "", "proc/self/cgroup": "0::/pod\n", "host/sys/fs/cgroup/cgroup.controllers": "cpuset\n",
		"host/sys/fs/cgroup/pod/cpuset.cpus.effective": PinnedCPUs + "\n", "sys/class/dmi/id/product_uuid": "u\n",
		"host/dev/longhorn/volume": "", "calls/.keep": "", "etc/.keep": "", "log/.keep": "", "tmp/.keep": "", "var/log/.keep": "",
		"var/tmp/.keep": "", "host/var/lib/longhorn/.keep": "", "dev/mapper/.keep": "",
	}
	scripts, err := u.Files()
	if err != nil {
		return err
	}
	for name, text := range programs() {
		files["local/"+name] = text
	}
	for name, text := range scripts {
		files["local/"+name] = text
	}
	for name, text := range files {
		path := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		mode := os.FileMode(0o644)
		if strings.HasPrefix(name, "local/") {
			mode = 0o755
		}
		if err := os.WriteFile(path, []byte(text), mode); err != nil {
			return err
		}
	}
	return nil
}

// read returns the notes of the stand-ins.
func read(root string) (Run, error) {
	var out Run
	var err error
	if out.SPDK, err = lines(filepath.Join(root, "spdk")); err != nil {
		return Run{}, err
	}
	if out.Daemon, err = lines(filepath.Join(root, "daemon")); err != nil {
		return Run{}, err
	}
	if at := slices.Index(out.SPDK, "--json"); at >= 0 && at+1 < len(out.SPDK) {
		text, err := os.ReadFile(filepath.Join(root, out.SPDK[at+1]))
		if err != nil {
			return Run{}, err
		}
		out.Config = string(text)
	}
	mask, err := os.ReadFile(filepath.Join(root, "host", "proc", "irq", "default_smp_affinity"))
	if err != nil {
		return Run{}, err
	}
	out.Interrupts = strings.TrimSpace(string(mask))
	calls, err := filepath.Glob(filepath.Join(root, "calls", "0*"))
	if err != nil {
		return Run{}, err
	}
	slices.Sort(calls)
	for _, call := range calls {
		words, err := lines(call)
		if err != nil {
			return Run{}, err
		}
		out.Calls = append(out.Calls, strings.Join(words, " "))
	}
	return out, nil
}

// lines returns the lines of a file, nil if it does not exist.
func lines(path string) ([]string, error) {
	text, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n"), nil
}
