package startpages

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// Release unmaps the pages and returns how many bytes of address space they were in.
func Release() (uint64, error) {
	file, err := os.Executable()
	if err != nil {
		return 0, fmt.Errorf("finding the program's file: %w", err)
	}
	smaps, err := os.Open("/proc/self/smaps")
	if err != nil {
		return 0, fmt.Errorf("reading the mappings of the process: %w", err)
	}
	defer func() { _ = smaps.Close() }()
	mappings, err := clean(smaps, file)
	if err != nil {
		return 0, err
	}
	var sum uint64
	for _, m := range mappings {
		if _, _, errno := unix.Syscall(unix.SYS_MADVISE, m.from, m.size(), unix.MADV_DONTNEED); errno != 0 {
			return sum, fmt.Errorf("unmapping %x-%x of %s: %w", m.from, m.to, file, errno)
		}
		sum += uint64(m.size())
	}
	return sum, nil
}
