// Command docgen writes docs/settings.md.
package main

import (
	"flag"
	"fmt"
	"os"

	"drover.dev/drover/shared/setting/documented"
)

func main() {
	out := flag.String("out", "docs/settings.md", "the page to write")
	flag.Parse()
	text, err := documented.Page()
	if err == nil {
		err = os.WriteFile(*out, []byte(text), 0o644)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
