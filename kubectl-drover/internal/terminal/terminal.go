// Package terminal prints for people: aligned tables, colour where a terminal shows it, relative times and sizes with units. It knows
// nothing of Drover.
package terminal

import (
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// Style is how a text stands out. Without colour it is nothing.
type Style string

// The styles, as SGR parameters.
const (
	Plain   Style = ""
	Good    Style = "32"
	Warning Style = "33"
	Bad     Style = "31"
	Dim     Style = "2"
	Bold    Style = "1"
)

// Printer writes lines and tables.
type Printer struct {
	out    io.Writer
	colour bool
	err    error
}

// New returns a printer that uses colour if out is a terminal, NO_COLOR is empty and the terminal is not a dumb one.
func New(out io.Writer) *Printer { return &Printer{out: out, colour: Colours(out)} }

// Colours reports whether texts for this writer are coloured.
func Colours(out io.Writer) bool {
	return IsTerminal(out) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb"
}

// IsTerminal reports whether a person sees at once what is written, or types what is read.
func IsTerminal(stream any) bool {
	file, ok := stream.(*os.File)
	return ok && term.IsTerminal(int(file.Fd()))
}

// Err returns the first error of writing.
func (p *Printer) Err() error { return p.err }

// Line writes one line; what is in the arguments stays on it, see Clean.
func (p *Printer) Line(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintln(p.out, p.clean(fmt.Sprintf(format, args...)))
	}
}

// In returns the text in a style, on one line, see Clean.
func (p *Printer) In(style Style, text string) string {
	text = Clean(text)
	if !p.colour || style == Plain || text == "" {
		return text
	}
	return "\x1b[" + string(style) + "m" + text + "\x1b[0m"
}

// Cell is one cell of a table.
type Cell struct {
	Text  string
	Style Style
}

// Row is one row of plain cells.
func Row(texts ...string) []Cell {
	cells := make([]Cell, 0, len(texts))
	for _, text := range texts {
		cells = append(cells, Cell{Text: text})
	}
	return cells
}

// Table writes rows below a header, each column as wide as its widest cell, with three spaces between. An empty cell is shown as it is.
// Without rows it writes nothing.
func (p *Printer) Table(indent string, header []string, rows [][]Cell) {
	if len(rows) == 0 {
		return
	}
	widths := make([]int, len(header))
	for i, title := range header {
		widths[i] = utf8.RuneCountInString(title)
	}
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(Clean(cell.Text)))
		}
	}
	if strings.Join(header, "") != "" {
		titles := Row(header...)
		for i := range titles {
			titles[i].Style = Dim
		}
		p.row(indent, widths, titles)
	}
	for _, row := range rows {
		p.row(indent, widths, row)
	}
}

func (p *Printer) row(indent string, widths []int, cells []Cell) {
	last := len(cells) - 1
	for last > 0 && cells[last].Text == "" {
		last--
	}
	var line strings.Builder
	line.WriteString(indent)
	for i, cell := range cells[:last+1] {
		line.WriteString(p.In(cell.Style, cell.Text))
		if i < last {
			line.WriteString(strings.Repeat(" ", widths[i]-utf8.RuneCountInString(Clean(cell.Text))+3))
		}
	}
	p.Line("%s", line.String())
}
