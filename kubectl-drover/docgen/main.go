// Package main writes docs/kubectl-drover.md from the commands of kubectl drover, and docs/waits.md from its rules about conditions.
package main

import (
	"flag"
	"fmt"
	"os"

	"drover.dev/drover/kubectl-drover/internal/command"
	"drover.dev/drover/kubectl-drover/internal/finding"
)

func main() {
	out := flag.String("out", "docs/kubectl-drover.md", "the page of the commands to write")
	waits := flag.String("waits", "docs/waits.md", "the page of the waits to write")
	flag.Parse()
	if err := run(*out, *waits); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// run writes both pages.
func run(out, waits string) error {
	text, err := command.Page()
	if err != nil {
		return err
	}
	for name, page := range map[string]string{out: text, waits: finding.WaitsPage()} {
		if err := os.WriteFile(name, []byte(page), 0o644); err != nil {
			return fmt.Errorf("write page %s: %w", name, err)
		}
	}
	return nil
}
