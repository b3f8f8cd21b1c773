package terminal

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAValueCannotChangeWhatTheTerminalShows(t *testing.T) {
	for text, want := range map[string]string{
		"zwölf Knoten\u00a0…":  "zwölf Knoten\u00a0…",
		"a\x1b[2J\x1b]0;b\x07": `a\x1b[2J\x1b]0;b\a`,
		"a\nkubectl b\r\tc":    `a\nkubectl b\r\tc`,
		"a\x9b2J":              `a\x9b2J`,
		"a\u009b2J\x7f":        `a\u009b2J\x7f`,
		"a\u202egnp.exe":       `a\u202egnp.exe`,
		"a\u2028b\u2066c":      `a\u2028b\u2066c`,
	} {
		require.Equal(t, want, Clean(text))
		for _, colour := range []bool{true, false} {
			var out bytes.Buffer
			p := &Printer{out: &out, colour: colour}
			p.Line("%s", text)
			require.Equal(t, want+"\n", out.String())
			out.Reset()
			p.Table("", []string{"NAME", "NOTE"}, [][]Cell{Row(text, "x")})
			require.Contains(t, out.String(), want+"   x\n")
			require.NotContains(t, p.In(Plain, text)+p.In(Bad, text), "\n")
			require.NotContains(t, p.In(Bad, text), "\x1b[2J")
		}
	}
	var out bytes.Buffer
	p := &Printer{out: &out, colour: true}
	p.Line("%s: %s", p.In(Bad, "a\x1b[31mb"), "c")
	require.Equal(t, "\x1b[31ma\\x1b[31mb\x1b[0m: c\n", out.String())
	require.Equal(t, "unknown\n\n\twhy\\x1b[2J", CleanLines("unknown\n\n\twhy\x1b[2J"))
}
