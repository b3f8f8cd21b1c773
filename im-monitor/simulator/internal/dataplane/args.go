package dataplane

import (
	"slices"
	"strconv"
	"strings"
)

// arguments are those of a v1 process.
type arguments []string

// all are the values of each occurrence of an option.
func (a arguments) all(option string) []string {
	var out []string
	for i := 0; i < len(a)-1; i++ {
		if a[i] == option {
			out = append(out, a[i+1])
		}
	}
	return out
}

// one is the value of an option's first occurrence.
func (a arguments) one(option string) string {
	if values := a.all(option); len(values) > 0 {
		return values[0]
	}
	return ""
}

// number is the value of an option that counts something; 0 when it is none.
func (a arguments) number(option string) uint64 {
	n, err := strconv.ParseUint(a.one(option), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func (a arguments) has(option string) bool { return slices.Contains(a, option) }

// volume is what the process serves: the word after controller, or the replica's option.
func (a arguments) volume() string {
	if v := a.one("controller"); v != "" {
		return v
	}
	return a.one("--volume-name")
}

// runs is the type of what a process is: its first word that is neither an option nor the value of one.
func (a arguments) runs() string {
	for i := 0; i < len(a); i++ {
		switch {
		case strings.HasPrefix(a[i], "--"):
			i++
		case a[i] == "controller":
			return TypeEngine
		case a[i] == "replica":
			return TypeReplica
		default:
			return ""
		}
	}
	return ""
}

// directory is where a replica keeps its data.
func (a arguments) directory() string {
	if d := a.one("replica"); !strings.HasPrefix(d, "--") {
		return d
	}
	return ""
}

// volumeOf is the volume that an instance belongs to: as reported, as its arguments have it, or as its name has it.
func volumeOf(s Spec) string {
	if s.Volume != "" {
		return s.Volume
	}
	if v := arguments(s.Args).volume(); v != "" {
		return v
	}
	for _, infix := range []string{"-ef-", "-e-", "-r-"} {
		if i := strings.LastIndex(s.Name, infix); i > 0 {
			return s.Name[:i]
		}
	}
	return ""
}
