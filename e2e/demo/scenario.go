package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"
)

// The colours of a terminal.
const (
	green, red, bold, dim = "\x1b[32m", "\x1b[31m", "\x1b[1m", "\x1b[2m"
	plain                 = "\x1b[0m"
)

// scenario prints each step when it is done.
type scenario struct {
	out    io.Writer
	colour bool
	began  time.Time
	// steps are those that are done, sections those that have begun.
	steps, sections int
}

// painted returns the text in a colour, where the output is a terminal.
func (s *scenario) painted(colour, text string) string {
	if !s.colour {
		return text
	}
	return colour + text + plain
}

// step does one step and prints its result; the line begins with the time since the scenario began, in seconds.
func (s *scenario) step(ctx context.Context, title string, do func(context.Context) (string, error)) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	detail, err := do(ctx)
	if err != nil {
		s.line(s.painted(red, "✗"), title, "")
		return fmt.Errorf("%s: %w", title, err)
	}
	s.steps++
	s.line(s.painted(green, "✓"), title, detail)
	return nil
}

func (s *scenario) line(tick, title, detail string) {
	if detail != "" {
		title += s.painted(dim, " — "+detail)
	}
	fmt.Fprintf(s.out, "%7.1fs  %s %s\n", time.Since(s.began).Seconds(), tick, title)
}

// note prints progress within a step.
func (s *scenario) note(format string, args ...any) { s.line("·", fmt.Sprintf(format, args...), "") }

// show prints a table, indented, under the command that prints the same.
func (s *scenario) show(command, table string) {
	fmt.Fprintf(s.out, "\n           %s\n", s.painted(bold, "$ "+command))
	for line := range strings.Lines(table) {
		fmt.Fprintf(s.out, "           %s", line)
	}
	fmt.Fprintln(s.out)
}

// section begins a part of the scenario.
func (s *scenario) section(title string) {
	s.sections++
	fmt.Fprintf(s.out, "\n%s\n", s.painted(bold, title))
}

// summary is the last line.
func (s *scenario) summary() {
	s.section(fmt.Sprintf("All %d steps passed, in %d sections and %.0f s.", s.steps, s.sections, time.Since(s.began).Seconds()))
}
