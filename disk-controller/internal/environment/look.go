// Package environment checks whether a node has what Longhorn's data plane needs: mounts that propagate, kernel modules, programs. Look
// reads files of the host, Evaluate makes conditions of the facts.
package environment

import (
	"bufio"
	"bytes"
	"io"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
)

// Host has the paths of the host's files.
type Host struct {
	// Root is the mount point of the host's root. Only some of its directories are visible there.
	Root string
	// Proc and Sys are the mounts of proc and sysfs, which show the kernel of the host in each container.
	Proc, Sys string
}

// At returns the host of this process, whose root is mounted at a path.
func At(root string) Host { return Host{Root: root, Proc: "/proc", Sys: "/sys"} }

// Facts describe the host. A part that could not be read is nil.
type Facts struct {
	// Mounts are the visible directories of the host, by whether mounts that are made in them later are seen here.
	Mounts map[string]bool
	// Modules are the modules in question that the kernel has, loaded or built in.
	Modules map[string]bool
	// BuiltInKnown reports whether the list of built-in modules was read: without it, a module that is not loaded may be built in.
	BuiltInKnown bool
	// Programs are the programs in question that the host has.
	Programs map[string]bool
	// Family is the kind of distribution, which decides on the names of packages: debian, rhel, suse or "".
	Family string
}

// usr is the directory with the programs and the list of modules; it is mounted for these checks only.
const usr = "usr"

// Look reads the host.
func (h Host) Look() Facts {
	var f Facts
	f.Mounts = h.mounts()
	root, err := os.OpenRoot(h.Root)
	if err == nil {
		defer func() { _ = root.Close() }()
	}
	f.Modules, f.BuiltInKnown = h.modules(root)
	if root != nil {
		f.Programs, f.Family = programs(root), family(root)
	}
	return f
}

// mounts returns the mounts below the root, nil if the table cannot be read or there are none. A mount that is the slave of another gets
// the mounts that are made there later. The mounts in usr, which are private to this pod, prove nothing about the node.
func (h Host) mounts() map[string]bool {
	table, err := os.ReadFile(filepath.Join(h.Proc, "self", "mountinfo"))
	if err != nil {
		return nil
	}
	var out map[string]bool
	for line := range strings.Lines(string(table)) {
		fields := strings.Fields(line)
		end := slices.Index(fields, "-")
		if end < 6 {
			continue
		}
		on, below := strings.CutPrefix(unescape(fields[4]), h.Root+"/")
		if !below || on == usr || strings.HasPrefix(on, usr+"/") {
			continue
		}
		if out == nil {
			out = map[string]bool{}
		}
		out["/"+on] = slices.ContainsFunc(fields[6:end], func(s string) bool {
			return strings.HasPrefix(s, "master:") || strings.HasPrefix(s, "shared:")
		})
	}
	return out
}

// unescape returns a path of the mount table as it is; the kernel writes blanks and backslashes in octal.
func unescape(s string) string {
	return strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`).Replace(s)
}

// modules returns which of the modules in question the kernel has, nil if its list cannot be read, and whether the list of built-in modules
// was read.
func (h Host) modules(root *os.Root) (map[string]bool, bool) {
	loaded, err := os.ReadFile(filepath.Join(h.Proc, "modules"))
	if err != nil {
		return nil, false
	}
	has := map[string]bool{}
	for line := range strings.Lines(string(loaded)) {
		name, _, _ := strings.Cut(line, " ")
		has[name] = true
	}
	names, known := builtIn(root, h.release())
	for _, name := range names {
		has[name] = true
	}
	out := map[string]bool{}
	for _, name := range append(slices.Clone(modulesV1), modulesV2...) {
		_, err := os.Stat(filepath.Join(h.Sys, "module", name))
		out[name] = has[name] || err == nil
	}
	return out, known
}

// release returns the release of the kernel.
func (h Host) release() string {
	text, err := os.ReadFile(filepath.Join(h.Proc, "sys", "kernel", "osrelease"))
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(text))
}

// builtIn returns the modules that are part of the kernel, and whether their list is visible.
func builtIn(root *os.Root, release string) (names []string, known bool) {
	if root == nil || release == "" {
		return nil, false
	}
	content := readFile(root, path.Join(usr, "lib/modules", release, "modules.builtin"))
	list := bufio.NewScanner(bytes.NewReader(content))
	for list.Scan() {
		name := strings.TrimSuffix(path.Base(list.Text()), ".ko")
		names = append(names, strings.ReplaceAll(name, "-", "_"))
	}
	return names, content != nil
}

// programs returns which of the programs in question the host has, nil if its directories are not visible.
func programs(root *os.Root) map[string]bool {
	if _, err := root.Stat(usr + "/bin"); err != nil {
		return nil
	}
	out := map[string]bool{}
	for _, need := range needed {
		for _, directory := range []string{"sbin", "bin"} {
			_, err := root.Lstat(path.Join(usr, directory, need.program))
			out[need.program] = out[need.program] || err == nil
		}
	}
	return out
}

// family returns the kind of distribution.
func family(root *os.Root) string {
	for line := range strings.Lines(string(readFile(root, usr+"/lib/os-release"))) {
		key, value, _ := strings.Cut(strings.TrimSpace(line), "=")
		if key != "ID" && key != "ID_LIKE" {
			continue
		}
		for _, word := range strings.Fields(strings.Trim(value, `"'`)) {
			if known := families[word]; known != "" {
				return known
			}
		}
	}
	return ""
}

// mostBytes is the size up to which a file of the host is read.
const mostBytes = 1 << 20

// readFile returns the beginning of a file, nil if it cannot be read.
func readFile(root *os.Root, name string) []byte {
	file, err := root.OpenFile(name, os.O_RDONLY|unix.O_NONBLOCK, 0) // a pipe without a writer holds up nothing
	if err != nil {
		return nil
	}
	defer func() { _ = file.Close() }()
	content, err := io.ReadAll(io.LimitReader(file, mostBytes))
	if err != nil {
		return nil
	}
	return content
}
