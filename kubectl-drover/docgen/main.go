// Package main writes docs/kubectl-drover.md from the commands of kubectl drover.
package main

import (
	"flag"
	"fmt"
	"os"

	"drover.dev/drover/kubectl-drover/internal/command"
)

func main() {
	out := flag.String("out", "docs/kubectl-drover.md", "the page to write")
	flag.Parse()
	if err := run(*out); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(out string) error {
	text, err := command.Page()
	if err != nil {
		return err
	}
	if err := os.WriteFile(out, []byte(text), 0o644); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}
