package startpages

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

const report = `00400000-023d9000 r-xp 00000000 fd:00 1234                               /orphan-controller
Rss:               12000 kB
Anonymous:             0 kB
VmFlags: rd ex mr mw me
023d9000-04a00000 r--p 01fd9000 fd:00 1234                               /orphan-controller
Rss:                8000 kB
Anonymous:             0 kB
04a00000-04a10000 r--p 01fd9000 fd:00 1234                               /orphan-controller
Anonymous:             4 kB
04a10000-04b00000 rw-p 04600000 fd:00 1234                               /orphan-controller
Anonymous:             0 kB
04b00000-04b10000 r--s 00000000 fd:00 1234                               /orphan-controller
Anonymous:             0 kB
c000000000-c000400000 rw-p 00000000 00:00 0
Anonymous:          4096 kB
7f0000000000-7f0000010000 r-xp 00000000 fd:00 99                         /lib/libc.so.6
Anonymous:             0 kB
7f0000020000-7f0000030000 r-xp 00000000 fd:00 1234                       /orphan-controller (deleted)
Anonymous:             0 kB
`

// A page that the process wrote, such as one that the linker fixed up at the start, has no other copy.
func TestOnlyPagesThatTheFileStillHasAreReleased(t *testing.T) {
	found, err := clean(strings.NewReader(report), "/orphan-controller")
	require.NoError(t, err)
	require.Equal(t, []mapping{{0x400000, 0x23d9000}, {0x23d9000, 0x4a00000}}, found)
}

func TestAProgramGoesOnWithoutItsPages(t *testing.T) {
	size, err := Release()
	require.NoError(t, err)
	require.NotZero(t, size)
	again, err := Release()
	require.NoError(t, err)
	require.Equal(t, size, again)
}
