package guides

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// command is one command of a page, as it stands there.
type command struct {
	page string
	// line is the number of its first line.
	line int
	text string
	// shown are the lines that the page shows below it; none: the page shows no output.
	shown []string
	// inline: it stands in a sentence or a table, and is run after those of the blocks.
	inline bool
}

func (c command) String() string { return fmt.Sprintf("%s:%d %s", c.page, c.line, c.text) }

// file is one that the reader of a page is to write: a yaml block that begins with its path as a comment.
type file struct{ path, text string }

// page is what of a page a test can run.
type page struct {
	commands []command
	files    []file
}

// languages are those that a fenced block may have. Only sh and console contain commands: in a console block those that follow "$ ", and
// what they print.
var languages = []string{"sh", "console", "yaml", "json", "text", "mermaid"}

var (
	fence      = regexp.MustCompile("^ *```([a-z]*)$")
	inlineCode = regexp.MustCompile("`((?:kubectl|helm|make|bin/[a-z-]+|bazel|go run) [^`]+)`")
	pathOfFile = regexp.MustCompile(`^# ((?:[a-z-]+/)?[a-z-]+\.yaml)$`)
)

// pages are the pages whose commands are run, relative to the root: README, guides, alerts, the READMEs of binaries and charts, and what
// the demo prints at its end.
func pages(root string) ([]string, error) {
	var out []string
	for _, pattern := range []string{"README.md", "docs/*.md", "docs/alerts/*.md", "*/README.md", "charts/*/README.md",
		"*/simulator/README.md", "*/conformance/README.md", "e2e/*/README.md", "e2e/demo/keep.md"} {
		found, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			return nil, fmt.Errorf("searching for pages: %w", err)
		}
		for _, path := range found {
			if info, err := os.Lstat(path); err != nil || info.Mode()&os.ModeSymlink != 0 {
				continue // the same page again
			}
			name, err := filepath.Rel(root, path)
			if err != nil {
				return nil, fmt.Errorf("naming %s: %w", path, err)
			}
			if !slices.Contains(out, name) {
				out = append(out, name)
			}
		}
	}
	return out, nil
}

// read extracts the commands of a page, those of its blocks first.
func read(ctx context.Context, root, name string) (page, error) {
	text, err := os.ReadFile(filepath.Join(root, name))
	if err != nil {
		return page{}, fmt.Errorf("reading the page: %w", err)
	}
	var out page
	var prose []command
	lines := strings.Split(string(text), "\n")
	for i := 0; i < len(lines); i++ {
		start := fence.FindStringSubmatch(lines[i])
		if start == nil {
			for _, found := range inlineCode.FindAllStringSubmatch(lines[i], -1) {
				prose = append(prose, command{page: name, line: i + 1, text: strings.ReplaceAll(found[1], `\|`, "|"), inline: true})
			}
			continue
		}
		end := i + 1
		for ; end < len(lines) && !fence.MatchString(lines[end]); end++ {
		}
		if !slices.Contains(languages, start[1]) {
			return page{}, fmt.Errorf("%s:%d: the block has the language %q; it must be one of %v", name, i+1, start[1], languages)
		}
		block := unindent(lines[i+1 : end])
		switch start[1] {
		case "sh", "console":
			found, err := split(ctx, block, start[1] == "console")
			if err != nil {
				return page{}, fmt.Errorf("%s: the block in line %d: %w", name, i+1, err)
			}
			for _, c := range found {
				c.page, c.line = name, c.line+i+2
				out.commands = append(out.commands, c)
			}
		case "yaml":
			if path := pathOfFile.FindStringSubmatch(block[0]); path != nil {
				out.files = append(out.files, file{path[1], strings.Join(block, "\n") + "\n"})
			}
		}
		i = end
	}
	out.commands = append(out.commands, prose...)
	return out, nil
}

// unindent removes the indentation of the first line, as of a block in a list, from each.
func unindent(block []string) []string {
	if len(block) == 0 {
		return nil
	}
	indent := block[0][:len(block[0])-len(strings.TrimLeft(block[0], " "))]
	out := make([]string, 0, len(block))
	for _, line := range block {
		out = append(out, strings.TrimPrefix(line, indent))
	}
	return out
}

// split divides a block into its commands, of one line or several. In a console block a command follows "$ ", and its output follows it.
func split(ctx context.Context, block []string, console bool) ([]command, error) {
	var out []command
	for i := 0; i < len(block); {
		first, text := i, block[i]
		if console {
			if !strings.HasPrefix(text, "$ ") {
				if len(out) == 0 {
					return nil, fmt.Errorf("%q is the output of no command", text)
				}
				out[len(out)-1].shown = append(out[len(out)-1].shown, text)
				i++
				continue
			}
			text = strings.TrimPrefix(text, "$ ")
		}
		for i++; !complete(ctx, text); i++ {
			if i == len(block) {
				return nil, fmt.Errorf("%q has no end", text)
			}
			text += "\n" + block[i]
		}
		if trimmed := strings.TrimSpace(text); trimmed != "" && !strings.HasPrefix(trimmed, "#") {
			out = append(out, command{line: first, text: text})
		}
	}
	return out, nil
}

// complete reports whether the shell needs no further line to execute the text.
func complete(ctx context.Context, text string) bool {
	if strings.HasSuffix(text, `\`) {
		return false
	}
	check := exec.CommandContext(ctx, "bash", "-n", "-c", placeholder.ReplaceAllString(text, "x"))
	out, err := check.CombinedOutput()
	return err == nil && len(out) == 0
}

// placeholder is what a reader replaces by a name.
var placeholder = regexp.MustCompile(`<[a-z][a-zA-Z' -]*>`)
