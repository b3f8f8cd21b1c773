package defaults

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/setting"
)

// Verdict has the changes to the Node.
type Verdict struct {
	// Disks and Tags are written if there are any.
	Disks map[string]v1beta2.DiskSpec
	Tags  []string
	// EndRequest removes the request for a default disk.
	EndRequest bool
	// Problems explain why disks or tags are not written.
	Problems []Problem
}

// Problem explains why disks or tags are not written, as the reason and the text of a condition.
type Problem struct{ Reason, Text string }

// Writes reports whether anything is to be written.
func (v Verdict) Writes() bool { return len(v.Disks) > 0 || len(v.Tags) > 0 || v.EndRequest }

// Decide returns which disks and tags a Node gets.
func Decide(w World) Verdict {
	var v Verdict
	if w.HasDisks {
		v.EndRequest = w.Request != ""
	} else {
		disks, problem := w.disks()
		v.Disks = disks
		v.EndRequest = w.Request != "" && len(disks) > 0
		v.add(problem)
	}
	if !w.HasTags && w.Tags != "" {
		tags, problem := w.tags()
		v.Tags = tags
		v.add(problem)
	}
	return v
}

func (v *Verdict) add(p *Problem) {
	if p != nil {
		v.Problems = append(v.Problems, *p)
	}
}

// disks returns the disks of a Node that has none.
func (w World) disks() (map[string]v1beta2.DiskSpec, *Problem) {
	switch {
	case w.Request != "":
		request, err := v1beta2.ParseDefaultDiskRequest(w.Request)
		if err != nil {
			return nil, invalid("The annotation %s of Node %s cannot be read: %v. Remove it, and add the disk to spec.disks yourself.",
				v1beta2.AnnotationDefaultDisk, w.Node, err)
		}
		return w.build([]entry{{Path: request.Path, AllowScheduling: true}}, request.ReservedPercent,
			fmt.Sprintf("The default disk of Node %s", w.Node))
	case !w.Settings.LabeledOnly || w.Label == "" || w.Label == "false":
		return nil, nil
	case w.Label == LabelDefault:
		return w.build([]entry{{Path: w.Settings.Path, AllowScheduling: true}}, w.Settings.ReservedPercent,
			fmt.Sprintf("The default disk of Node %s", w.Node))
	case w.Label == LabelConfig:
		return w.configured()
	}
	return nil, invalid("The label %s of Kubernetes node %s is %q: set it to %s or %s.", LabelCreate, w.Node, w.Label, LabelDefault,
		LabelConfig)
}

// configured returns the disks in the annotation of the Kubernetes node.
func (w World) configured() (map[string]v1beta2.DiskSpec, *Problem) {
	var entries []entry
	if err := json.Unmarshal([]byte(w.Disks), &entries); err != nil {
		return nil, invalid("The annotation %s of Kubernetes node %s is not a JSON list of disks, such as "+
			`[{"path":"/var/lib/longhorn","allowScheduling":true}]. Correct it.`, AnnotationDisks, w.Node)
	}
	return w.build(entries, w.Settings.ReservedPercent, fmt.Sprintf("The annotation %s of Kubernetes node %s", AnnotationDisks, w.Node))
}

// tags returns the tags in the annotation of the Kubernetes node, each once and in order.
func (w World) tags() ([]string, *Problem) {
	var tags []string
	if err := json.Unmarshal([]byte(w.Tags), &tags); err != nil {
		return nil, invalid(`The annotation %s of Kubernetes node %s is not a JSON list of tags, such as ["fast"]. Correct it.`,
			AnnotationTags, w.Node)
	}
	if why := badTags(tags, mostNodeTags); why != "" {
		return nil, invalid("The annotation %s of Kubernetes node %s cannot be used: %s. Correct it.", AnnotationTags, w.Node, why)
	}
	return inOrder(tags), nil
}

func invalid(format string, args ...any) *Problem {
	return &Problem{v1beta2.ReasonInvalidDefaults, fmt.Sprintf(format, args...)}
}

// The most that the API server takes.
const (
	mostDisks, mostNodeTags, mostDiskTags = 128, 256, 64
	longestTag                            = 256
)

// badTags returns why a list of tags cannot be used, "" if it can.
func badTags(tags []string, most int) string {
	if len(tags) > most {
		return fmt.Sprintf("it has %d tags, and %d are allowed", len(tags), most)
	}
	for _, tag := range tags {
		if problems := validation.IsQualifiedName(tag); len(problems) > 0 || len(tag) > longestTag {
			return fmt.Sprintf("%q is no tag: a tag has letters, digits, - _ and . and begins and ends with a letter or digit", tag)
		}
	}
	return ""
}

func inOrder(tags []string) []string { return slices.Compact(slices.Sorted(slices.Values(tags))) }

// entry is one disk in the annotation of a Kubernetes node.
type entry struct {
	Name            string   `json:"name"`
	Path            string   `json:"path"`
	AllowScheduling bool     `json:"allowScheduling"`
	StorageReserved int64    `json:"storageReserved"`
	Tags            []string `json:"tags"`
	DiskType        string   `json:"diskType"`
	DiskDriver      string   `json:"diskDriver"`
}

// isBlock reports whether the disk is a v2 disk.
func (e entry) isBlock() bool {
	return e.DiskType == v1beta2.DiskTypeBlock || e.DiskType == "" && setting.IsDevicePath(e.Path)
}

// build makes disks of a list: all of them, or none and why.
func (w World) build(entries []entry, percent int, source string) (map[string]v1beta2.DiskSpec, *Problem) {
	if len(entries) > mostDisks {
		return nil, invalid("%s cannot be used: it has %d disks, and %d are allowed. Correct it.", source, len(entries), mostDisks)
	}
	b := builder{World: w, percent: percent, out: map[string]v1beta2.DiskSpec{}, paths: map[string]bool{}, filesystems: map[string]bool{}}
	for _, e := range entries {
		why, unusable := b.add(e)
		switch {
		case unusable != "":
			return nil, &Problem{v1beta2.ReasonNoDirectory, fmt.Sprintf("%s waits for the directory %s: %s. Make or mount it, and let "+
				"disk-controller see it (value hostPaths of its chart), or write disks to spec.disks yourself.", source, e.Path, unusable)}
		case why != "":
			return nil, invalid("%s cannot be used: %s. Correct it, or write disks to spec.disks yourself.", source, why)
		}
	}
	return b.out, nil
}

// builder collects the disks of one Node.
type builder struct {
	World
	percent            int
	out                map[string]v1beta2.DiskSpec
	paths, filesystems map[string]bool
}

// add adds a disk, or returns why the list cannot be used, or why a directory cannot.
func (b *builder) add(e entry) (why, unusable string) {
	path := strings.TrimRight(e.Path, "/")
	if why := b.invalid(e); why != "" {
		return why, ""
	}
	if b.paths[path] {
		return fmt.Sprintf("two disks have the path %s", e.Path), ""
	}
	spec := v1beta2.DiskSpec{Path: e.Path, AllowScheduling: e.AllowScheduling, StorageReserved: e.StorageReserved, Tags: inOrder(e.Tags),
		DiskType: v1beta2.DiskTypeFilesystem}
	name := "default-disk-" + fmt.Sprintf("%x", sha256.Sum256([]byte(b.Node+path)))[:8]
	if e.isBlock() {
		spec.DiskType, spec.DiskDriver = v1beta2.DiskTypeBlock, e.DiskDriver
		if spec.DiskDriver == "" {
			spec.DiskDriver = "auto"
		}
	} else {
		seen := b.Look(e.Path)
		switch {
		case seen.Problem != "":
			return "", seen.Problem
		case seen.ReadOnly: // such as a directory of the pod itself, above the mounted directories of the host
			return "", "it is on a read-only file system"
		case b.filesystems[seen.Filesystem]:
			return fmt.Sprintf("%s is on the file system of another disk of the list", e.Path), ""
		case e.StorageReserved > seen.Maximum:
			return fmt.Sprintf("storageReserved of %s is %d, and the disk has %d bytes", e.Path, e.StorageReserved, seen.Maximum), ""
		}
		b.filesystems[seen.Filesystem], name = true, "default-disk-"+seen.Filesystem
		if spec.StorageReserved == 0 {
			spec.StorageReserved = seen.Maximum / 100 * int64(b.percent)
		}
	}
	if e.Name != "" {
		name = e.Name
	}
	if _, taken := b.out[name]; taken {
		return fmt.Sprintf("two disks have the name %s", name), ""
	}
	b.paths[path], b.out[name] = true, spec
	return "", ""
}

// isDiskName reports whether a text may be the name of a disk. Messages have commands with that name, which a person runs in a shell.
func isDiskName(text string) bool {
	return len(validation.IsQualifiedName(text)) == 0 && !strings.Contains(text, "/")
}

// mostReserved is below the number of bytes that the API server refuses.
const mostReserved = int64(1e18)

// invalid returns why a disk cannot be used, "" if nothing speaks against it.
func (b *builder) invalid(e entry) string {
	if err := setting.CheckDiskPath(e.Path); err != nil {
		return fmt.Sprintf("the path of a disk is wrong: %v", err)
	}
	switch {
	case e.Name != "" && !isDiskName(e.Name):
		return fmt.Sprintf("%q is no name of a disk: a name has up to 63 letters, digits, - _ and . and begins and ends with a letter or digit",
			e.Name)
	case !slices.Contains([]string{"", v1beta2.DiskTypeFilesystem, v1beta2.DiskTypeBlock}, e.DiskType):
		return fmt.Sprintf("diskType of %s is %q: it is filesystem or block", e.Path, e.DiskType)
	case e.isBlock() && !b.V2:
		return fmt.Sprintf("%s is a disk of the v2 data engine, and the setting v2-data-engine is not true", e.Path)
	case e.isBlock() && !slices.Contains([]string{"", "auto", "aio", "nvme"}, e.DiskDriver):
		return fmt.Sprintf("diskDriver of %s is %q: it is auto, aio or nvme", e.Path, e.DiskDriver)
	case !e.isBlock() && !strings.HasPrefix(e.Path, "/"):
		return fmt.Sprintf("%s is no directory: set diskType to block", e.Path)
	case e.StorageReserved < 0 || e.StorageReserved >= mostReserved:
		return fmt.Sprintf("storageReserved of %s is %d: it is a number of bytes, 0 or more", e.Path, e.StorageReserved)
	}
	if why := badTags(e.Tags, mostDiskTags); why != "" {
		return fmt.Sprintf("the tags of %s: %s", e.Path, why)
	}
	return ""
}
