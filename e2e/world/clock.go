package world

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"time"
)

// clockOffsets is the environment variable with the directory of the files that shift the clocks of processes.
const clockOffsets = "DROVER_CLOCK_OFFSETS"

// ShiftableClocks is the overlay of controllers whose wall clock Process.SetClock shifts: it edits time.Now of the standard library, and
// leaves monotonic time alone, as when a machine's clock is set. Every package is compiled again for it, once.
func ShiftableClocks(ctx context.Context) (Overlay, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("finding the standard library: %w", err)
	}
	dir := filepath.Join(string(bytes.TrimSpace(out)), "src", "time")
	source, err := os.ReadFile(filepath.Join(dir, "time.go"))
	if err != nil {
		return nil, fmt.Errorf("reading package time: %w", err)
	}
	const from = "func Now() Time {\n\tsec, nsec, mono := runtimeNow()\n"
	if n := bytes.Count(source, []byte(from)); n != 1 {
		return nil, fmt.Errorf("package time has %d functions Now that begin as expected, not one: update the edit", n)
	}
	return Overlay{
		filepath.Join(dir, "time.go"):   bytes.Replace(source, []byte(from), []byte(from+"\tsec += offsetSeconds.Load()\n"), 1),
		filepath.Join(dir, "offset.go"): []byte(fmt.Sprintf(offsetSource, clockOffsets)),
	}, nil
}

// offsetSource reads the offset of the process's clock, in seconds, every 50 ms: in a goroutine of its own, since the scheduler, which
// calls Now, too, must not wait for a file.
const offsetSource = `package time

import (
	"sync/atomic"
	"syscall"
)

var offsetSeconds atomic.Int64

func init() {
	if dir, found := syscall.Getenv("%s"); found {
		go func() {
			for ; ; Sleep(50 * Millisecond) {
				offsetSeconds.Store(readOffset(dir))
			}
		}()
	}
}

func readOffset(dir string) int64 {
	pid, name := syscall.Getpid(), ""
	for ; pid > 0; pid /= 10 {
		name = string(rune('0'+pid%%10)) + name
	}
	fd, err := open(dir + "/clock-" + name)
	if err != nil {
		return 0
	}
	defer closefd(fd)
	var buf [20]byte
	n, _ := read(fd, buf[:])
	sign, offset := int64(1), int64(0)
	for _, c := range buf[:max(n, 0)] {
		if c == '-' {
			sign = -1
		} else {
			offset = 10*offset + int64(c-'0')
		}
	}
	return sign * offset
}
`

// SetClock shifts the wall clock of the process, which was built with ShiftableClocks, by whole seconds, until the next call or the
// process's end.
func (p *Process) SetClock(offset time.Duration) error {
	file := filepath.Join(filepath.Dir(p.Log), fmt.Sprintf("clock-%d", p.PID()))
	// A rename, since a half-written number is another number.
	if err := os.WriteFile(file+".new", []byte(strconv.FormatInt(int64(offset/time.Second), 10)), 0o600); err != nil {
		return fmt.Errorf("setting the clock of %s: %w", p.Name, err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		return fmt.Errorf("setting the clock of %s: %w", p.Name, err)
	}
	return nil
}
