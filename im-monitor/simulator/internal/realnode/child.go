package realnode

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// PodCommand is the first argument of this program when it is to become the process of a pod.
const PodCommand = "pod"

const (
	// selfInPod and engineInPod are the places of this program and of the engine binary in the root of a pod.
	selfInPod, engineInPod = "/realnodes", "/engine"
	managerInPod           = "/longhorn-instance-manager"
	// engineName is the name of the engine binary in the directory of an engine image.
	engineName = "longhorn"
)

// setns moves the calling thread into a network namespace.
func setns(namespace *os.File) error {
	if err := unix.Setns(int(namespace.Fd()), unix.CLONE_NEWNET); err != nil {
		return fmt.Errorf("entering a network namespace: %w", err)
	}
	return nil
}

// BecomePod turns this process, the first one of its namespaces, into the instance manager of a pod.
func BecomePod(encoded string) error {
	var o setup
	if err := json.Unmarshal([]byte(encoded), &o); err != nil {
		return fmt.Errorf("reading the setup: %w", err)
	}
	// The link is there as soon as the parent writes.
	if _, err := os.NewFile(3, "release").Read(make([]byte, 1)); err != nil {
		return fmt.Errorf("waiting for the parent: %w", err)
	}
	for _, args := range [][]string{{"link", "set", "lo", "up"}, {"address", "add", o.Where.pod() + "/16", "dev", "eth0"},
		{"address", "add", o.Where.management() + "/16", "dev", "eth0"}, {"link", "set", "eth0", "up"}} {
		if err := ip(args...); err != nil {
			return err
		}
	}
	if err := unix.Sethostname([]byte(o.Name)); err != nil {
		return fmt.Errorf("setting the host name: %w", err)
	}
	if err := o.mount(); err != nil {
		return err
	}
	// A container has the path of its image and the variables of its pod.
	environment := append([]string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"}, o.Environment...)
	args := append([]string{managerInPod}, o.Arguments...)
	return fmt.Errorf("running %s: %w", o.InstanceManager, unix.Exec(managerInPod, args, environment))
}

// mount builds the root of the pod and enters it: the system's programs and libraries, and the paths of the container image.
func (o setup) mount() error {
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("leaving the mounts of the parent: %w", err)
	}
	if err := os.MkdirAll(o.Root, 0o755); err != nil {
		return fmt.Errorf("making the root: %w", err)
	}
	if err := unix.Mount("tmpfs", o.Root, "tmpfs", 0, ""); err != nil {
		return fmt.Errorf("mounting the root: %w", err)
	}
	for _, directory := range []string{"var/log/instances", "var/run", "run", "proc"} {
		if err := os.MkdirAll(filepath.Join(o.Root, directory), 0o755); err != nil {
			return fmt.Errorf("making the root: %w", err)
		}
	}
	self, err := os.Executable()
	if err != nil {
		return fmt.Errorf("finding this program: %w", err)
	}
	binds := map[string]string{selfInPod: self, engineInPod: o.Engine, managerInPod: o.InstanceManager, "/tmp": "/tmp", "/dev": "/dev",
		"/sys": "/sys"}
	for at, directory := range o.Mounts {
		if err := os.MkdirAll(directory, 0o755); err != nil {
			return fmt.Errorf("making a directory of the host: %w", err)
		}
		binds[at] = directory
	}
	for _, name := range []string{"/bin", "/sbin", "/lib", "/lib64", "/usr"} {
		if err := o.adopt(name, binds); err != nil {
			return err
		}
	}
	if err := o.configure(); err != nil {
		return err
	}
	for _, at := range slices.Sorted(maps.Keys(binds)) { // a directory before those below it
		if err := bind(binds[at], filepath.Join(o.Root, at)); err != nil {
			return err
		}
	}
	if err := unix.Mount("proc", filepath.Join(o.Root, "proc"), "proc", 0, ""); err != nil {
		return fmt.Errorf("mounting /proc: %w", err)
	}
	if err := bind(filepath.Join(o.Root, "proc"), filepath.Join(o.Root, "host/proc")); err != nil { // the processes of the host
		return err
	}
	if err := unix.Chroot(o.Root); err != nil {
		return fmt.Errorf("entering the root: %w", err)
	}
	return os.Chdir("/")
}

// configure writes the files in /etc that programs read. There is no name server: whatever asks for one is refused at once.
func (o setup) configure() error {
	directory := filepath.Join(o.Root, "etc")
	if err := os.MkdirAll(directory, 0o755); err != nil {
		return fmt.Errorf("making /etc: %w", err)
	}
	for name, content := range map[string]string{
		"hosts":         "127.0.0.1 localhost\n" + o.Where.pod() + " " + o.Name + "\n",
		"resolv.conf":   "nameserver 127.0.0.1\noptions timeout:1 attempts:1\n",
		"nsswitch.conf": "passwd: files\ngroup: files\nhosts: files dns\n",
		"passwd":        "root:x:0:0:root:/:/bin/sh\n",
		"group":         "root:x:0:\n",
	} {
		if err := os.WriteFile(filepath.Join(directory, name), []byte(content), 0o644); err != nil {
			return fmt.Errorf("writing /etc/%s: %w", name, err)
		}
	}
	return nil
}

// adopt adds a directory of the machine to the binds, or makes the same link where it is a link.
func (o setup) adopt(name string, binds map[string]string) error {
	info, err := os.Lstat(name)
	switch {
	case errors.Is(err, os.ErrNotExist):
		return nil
	case err != nil:
		return fmt.Errorf("reading %s: %w", name, err)
	case info.Mode()&os.ModeSymlink == 0:
		binds[name] = name
		return nil
	}
	to, err := os.Readlink(name)
	if err != nil {
		return fmt.Errorf("reading %s: %w", name, err)
	}
	return os.Symlink(to, filepath.Join(o.Root, name))
}

// bind shows a file or directory at another place.
func bind(from, to string) error {
	info, err := os.Stat(from)
	if err != nil {
		return fmt.Errorf("reading %s: %w", from, err)
	}
	if info.IsDir() {
		err = os.MkdirAll(to, 0o755)
	} else {
		err = os.WriteFile(to, nil, 0o755)
	}
	if err != nil {
		return fmt.Errorf("making %s: %w", to, err)
	}
	if err := unix.Mount(from, to, "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		return fmt.Errorf("showing %s at %s: %w", from, to, err)
	}
	return nil
}

// IsEngine reports whether this program was started in the place of the engine binary.
func IsEngine(args []string) bool { return filepath.Base(args[0]) == engineName }

// RunEngine becomes the engine binary. No machine here has iSCSI: an engine that is to make a block device serves the same data through the
// socket frontend of the same binary. Nothing else of the arguments is changed.
func RunEngine(args []string) error {
	return fmt.Errorf("running the engine: %w", unix.Exec(engineInPod, overSocket(args), os.Environ()))
}

// overSocket replaces the frontends that make block devices.
func overSocket(args []string) []string {
	args = slices.Clone(args)
	for i, arg := range args {
		if i > 0 && args[i-1] == "--frontend" && strings.HasPrefix(arg, "tgt-") {
			args[i] = socketFrontend
		}
	}
	return args
}
