package main

import (
	"context"
	"fmt"
	"io"
	"strings"
	"time"
)

// scenario prints each step when it is done.
type scenario struct {
	out   io.Writer
	began time.Time
}

// step does one step and prints its result; the line begins with the time since the scenario began, in seconds.
func (s *scenario) step(ctx context.Context, title string, do func(context.Context) (string, error)) error {
	if err := ctx.Err(); err != nil {
		return context.Cause(ctx)
	}
	detail, err := do(ctx)
	if err != nil {
		s.line("✗", title, "")
		return fmt.Errorf("%s: %w", title, err)
	}
	s.line("✓", title, detail)
	return nil
}

func (s *scenario) line(tick, title, detail string) {
	if detail != "" {
		title += " — " + detail
	}
	fmt.Fprintf(s.out, "%7.1fs  %s %s\n", time.Since(s.began).Seconds(), tick, title)
}

// note prints progress within a step.
func (s *scenario) note(format string, args ...any) { s.line("·", fmt.Sprintf(format, args...), "") }

// show prints a table, indented, under the command that prints the same.
func (s *scenario) show(command, table string) {
	fmt.Fprintf(s.out, "\n           $ %s\n", command)
	for line := range strings.Lines(table) {
		fmt.Fprintf(s.out, "           %s", line)
	}
	fmt.Fprintln(s.out)
}

// section begins a part of the scenario.
func (s *scenario) section(title string) { fmt.Fprintf(s.out, "\n%s\n", title) }
