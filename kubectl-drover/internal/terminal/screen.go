package terminal

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// Screen writes a text over the one before, on a terminal.
type Screen struct {
	out   *os.File
	drawn int // lines of the text before
}

// NewScreen returns the screen of a terminal; false where out is none, or one that cannot move its cursor.
func NewScreen(out io.Writer) (*Screen, bool) {
	if !IsTerminal(out) || os.Getenv("TERM") == "dumb" {
		return nil, false
	}
	return &Screen{out: out.(*os.File)}, true
}

// Draw writes what text prints over what was drawn before. Lines are cut at the width of the terminal, so that each is one row.
func (s *Screen) Draw(text func(*Printer)) error {
	var buffer bytes.Buffer
	printer := &Printer{out: &buffer, colour: Colours(s.out)}
	text(printer)
	width, height, err := term.GetSize(int(s.out.Fd()))
	if err != nil || width <= 0 || height <= 1 {
		width, height = 0, 0
	}
	lines := strings.Split(strings.TrimSuffix(buffer.String(), "\n"), "\n")
	if height > 0 && len(lines) >= height {
		lines = append(lines[:height-2], fmt.Sprintf("… %d more lines", len(lines)-height+2))
	}
	var frame strings.Builder
	if s.drawn > 0 {
		fmt.Fprintf(&frame, "\x1b[%dA\x1b[J", s.drawn)
	}
	for _, line := range lines {
		frame.WriteString(cut(line, width) + "\n")
	}
	s.drawn = len(lines)
	_, err = io.WriteString(s.out, frame.String())
	return err
}

// cut returns the line with at most width visible characters; 0 is as many as there are. Sequences for colours are kept.
func cut(line string, width int) string {
	if width == 0 {
		return line
	}
	var out strings.Builder
	visible := 0
	for i := 0; i < len(line); {
		if line[i] == '\x1b' {
			end := strings.IndexByte(line[i:], 'm')
			if end < 0 {
				break
			}
			out.WriteString(line[i : i+end+1])
			i += end + 1
			continue
		}
		_, size := utf8.DecodeRuneInString(line[i:])
		if visible < width {
			out.WriteString(line[i : i+size])
		}
		visible++
		i += size
	}
	return out.String()
}
