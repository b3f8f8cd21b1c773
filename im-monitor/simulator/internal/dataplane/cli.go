package dataplane

import (
	"crypto/sha1"
	"fmt"
	"path"
	"strings"

	"drover.dev/drover/shared/api/v1beta2"
)

// NewestCLI is the CLI API version of engine images that no one named another one for.
const NewestCLI = 12

// span reports which CLI API versions know a flag, and whether a value follows it; until 0 is for ever.
type span struct {
	since, until int
	value        bool
}

// The flags of a v1 process, in front of its command and behind it.
var (
	flagsInFront = map[string]map[string]span{
		"replica":    {"--volume-name": {9, 0, true}},
		"controller": {"--engine-instance-name": {9, 0, true}},
	}
	flagsBehind = map[string]map[string]span{
		"replica": {
			"--size": {0, 0, true}, "--backing-file": {0, 0, true}, "--disableRevCounter": {0, 0, false},
			"--sync-agent-port-count": {0, 0, true},
			"--volume-name":           {7, 8, true}, "--data-server-protocol": {7, 0, true},
			"--unmap-mark-disk-chain-removed": {7, 0, false},
			"--replica-instance-name":         {9, 0, true}, "--snapshot-max-count": {10, 0, true}, "--snapshot-max-size": {10, 0, true},
			"--encrypted": {12, 0, false},
		},
		"controller": {
			"--frontend": {0, 0, true}, "--disableRevCounter": {0, 0, false}, "--salvageRequested": {0, 0, false},
			"--replica": {0, 0, true},
			"--size":    {6, 0, true}, "--current-size": {6, 0, true}, "--engine-replica-timeout": {7, 0, true},
			"--file-sync-http-client-timeout": {7, 0, true},
			"--data-server-protocol":          {7, 0, true}, "--unmap-mark-snap-chain-removed": {7, 0, false},
			"--snapshot-max-count": {10, 0, true},
			"--snapshot-max-size":  {10, 0, true}, "--rebuild-sync-concurrent-limit": {11, 0, true},
		},
	}
)

// cliOf is the CLI API version of the image whose binary lies at a path.
func (p *Plane) cliOf(binary string) int {
	directory := path.Base(path.Dir(binary))
	for image, version := range p.behaviour.EngineImages {
		if v1beta2.EngineBinaryDirectory(image) == directory {
			return version
		}
	}
	return NewestCLI
}

// SetEngineImage reports which CLI API version the processes of an image have.
func (p *Plane) SetEngineImage(image string, cli int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.behaviour.EngineImages == nil {
		p.behaviour.EngineImages = map[string]int{}
	}
	p.behaviour.EngineImages[image] = cli
}

// VersionOf returns what the binary of an image prints if it is asked for its own version.
func (p *Plane) VersionOf(image string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	cli, known := p.behaviour.EngineImages[image]
	if !known {
		cli = NewestCLI
	}
	oldest := min(cli, 3)
	if cli >= 10 {
		oldest = 8
	}
	_, tag, _ := strings.Cut(path.Base(image), ":")
	return fmt.Sprintf(`{"clientVersion":{"version":%q,"gitCommit":"%x","buildDate":"2026-06-01T00:00:00+00:00","cliAPIVersion":%d,`+
		`"cliAPIMinVersion":%d,"controllerAPIVersion":6,"controllerAPIMinVersion":4,"dataFormatVersion":1,"dataFormatMinVersion":1},`+
		`"serverVersion":null}`, tag, sha1.Sum([]byte(image)), cli, oldest)
}

// EngineImages are the CLI API versions of the images that were named.
func (p *Plane) EngineImages() map[string]int {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make(map[string]int, len(p.behaviour.EngineImages))
	for image, version := range p.behaviour.EngineImages {
		out[image] = version
	}
	return out
}

// understood returns what a process of this CLI API version takes of its arguments, and why it exits at once, "" if it does not. Behind the
// volume's name an engine takes a flag that it does not know, and its value, as further names, which it ignores; behind a flag that has no
// value an unknown flag ends it. A replica takes no further names.
func (a arguments) understood(cli int) (known arguments, problem string) {
	command := a.command()
	if command == "" {
		return nil, exited("no command", 1)
	}
	flags, bare := flagsInFront[command], false
	for i := 0; i < len(a); i++ {
		f, ok := flags[a[i]]
		ok = ok && cli >= f.since && (f.until == 0 || cli <= f.until)
		switch {
		case a[i] == command:
			known = append(known, a[i:min(i+2, len(a))]...) // with the directory, or the volume
			flags = flagsBehind[command]
			i++
		case ok && f.value:
			known = append(known, a[i:min(i+2, len(a))]...)
			i++
		case ok:
			known = append(known, a[i])
		case !known.has(command) || command == "controller" && bare && strings.HasPrefix(a[i], "--"):
			return known, exited("flag provided but not defined: "+strings.TrimPrefix(a[i], "-"), 1)
		case command == "replica":
			return known, exited("directory name is required", 1)
		}
		bare = ok && !f.value
	}
	return known, ""
}

// command is the first word that is one: every flag in front of it has a value.
func (a arguments) command() string {
	for i := 0; i < len(a); i += 2 {
		if flagsBehind[a[i]] != nil {
			return a[i]
		}
	}
	return ""
}

func exited(why string, code int) string {
	return fmt.Sprintf("process exited: %s: exit status %d", why, code)
}
