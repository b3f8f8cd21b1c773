package main

import (
	"flag"
	"fmt"
	"os"
)

func main() {
	root, out := flag.String("root", ".", "the repository"), flag.String("out", "docs/tokens.md", "the page to write")
	flag.Parse()
	if err := run(*root, *out); err != nil {
		_, _ = fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run(root, out string) error {
	tokens, err := read(root)
	if err != nil {
		return err
	}
	text, err := page(tokens)
	if err != nil {
		return err
	}
	if err := os.WriteFile(out, []byte(text), 0o644); err != nil {
		return fmt.Errorf("writing the page: %w", err)
	}
	return nil
}
