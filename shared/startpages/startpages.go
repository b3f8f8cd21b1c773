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
// that they can be read again. smaps is the kernel's report of a process's mappings, /proc/<pid>/smaps: each has a line with its
// addresses, permissions, offset, device, inode and file, and lines with its figures after that.
func clean(smaps io.Reader, file string) ([]mapping, error) {
	var out []mapping
	var read *mapping // the one whose figures are read; nil: it is not of the file, or can be written
	lines := bufio.NewScanner(smaps)
	for lines.Scan() {
		fields := strings.Fields(lines.Text())
		var m mapping
		if n, _ := fmt.Sscanf(lines.Text(), "%x-%x", &m.from, &m.to); n == 2 {
			read = nil
			if strings.Join(fields[5:], " ") == file && !strings.Contains(fields[1], "w") && strings.HasSuffix(fields[1], "p") {
				read = &m
			}
			continue
		}
		if read != nil && len(fields) > 1 && fields[0] == "Anonymous:" && fields[1] == "0" {
			out = append(out, *read)
		}
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("reading the mappings of the process: %w", err)
	}
	return out, nil
}
