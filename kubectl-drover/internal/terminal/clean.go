package terminal

import (
	"fmt"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ownStyle is a sequence that In writes.
var ownStyle = regexp.MustCompile(`\x1b\[(0|1|2|31|32|33)m`)

// Clean returns a text as one line that moves no cursor and hides nothing: control characters, line ends, marks that turn the direction of
// what is written, and bytes that are no UTF-8 are shown as Go writes them, such as \x1b and \n. Texts of objects come from many programs.
func Clean(text string) string {
	var out strings.Builder
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&out, `\x%02x`, text[i])
		case unicode.IsControl(r) || unicode.In(r, unicode.Bidi_Control, unicode.Zl, unicode.Zp):
			quoted := fmt.Sprintf("%q", string(r))
			out.WriteString(quoted[1 : len(quoted)-1])
		default:
			out.WriteString(text[i : i+size])
		}
		i += size
	}
	return out.String()
}

// CleanLines is Clean for a text of several lines.
func CleanLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		rest := strings.TrimLeft(line, "\t")
		lines[i] = line[:len(line)-len(rest)] + Clean(rest)
	}
	return strings.Join(lines, "\n")
}

// clean is Clean that keeps the printer's own styles.
func (p *Printer) clean(text string) string {
	if !p.colour {
		return Clean(text)
	}
	var out strings.Builder
	at := 0
	for _, found := range ownStyle.FindAllStringIndex(text, -1) {
		out.WriteString(Clean(text[at:found[0]]) + text[found[0]:found[1]])
		at = found[1]
	}
	return out.String() + Clean(text[at:])
}
