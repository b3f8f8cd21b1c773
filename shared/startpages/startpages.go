// Package startpages unmaps the pages of the program's own file that only its start needed. It refuses to know when a start is over.
//
// Most of a quiet controller's resident memory is its own program, of which the start touches far more than the work after it. The pages
// stay in the kernel's cache of files: one that is needed again is mapped again without the disk, and the others are what the kernel
// can take first.
package startpages

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// mapping is one range of addresses, from the first to the one behind the last.
type mapping struct{ from, to uintptr }

func (m mapping) size() uintptr { return m.to - m.from }

// clean returns the mappings of the file that cannot be written and have no page of the process's own: their content is the file's, so
// that they can be read again. smaps is the kernel's report of a process's mappings, /proc/<pid>/smaps.
func clean(smaps io.Reader, file string) ([]mapping, error) {
	var out []mapping
	var current mapping
	candidate := false
	lines := bufio.NewScanner(smaps)
	for lines.Scan() {
		line := lines.Text()
		var permissions, rest string
		var m mapping
		if n, _ := fmt.Sscanf(line, "%x-%x %s", &m.from, &m.to, &permissions); n == 3 {
			fields := strings.Fields(line)
			if len(fields) > 5 {
				rest = strings.Join(fields[5:], " ")
			}
			current, candidate = m, rest == file && !strings.Contains(permissions, "w") && strings.HasSuffix(permissions, "p")
			continue
		}
		var kilobytes int
		if n, _ := fmt.Sscanf(line, "Anonymous: %d kB", &kilobytes); n == 1 && candidate && kilobytes == 0 {
			out = append(out, current)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading the mappings of the process: %w", err)
	}
	return out, nil
}
