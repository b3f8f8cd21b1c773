//go:build !fast

package guides

import (
	"cmp"
	"context"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/testkit/cluster"
)

// guide is how the commands of a page are run.
type guide struct {
	// prepare creates what the commands are about; nil: nothing.
	prepare func(context.Context, *fixture) error
	// words replace placeholders, and what names a thing that only a real cluster has.
	words func(*fixture) map[string]string
	// before are run before the first command that begins with the key.
	before map[string]func(context.Context, *fixture) error
	// each are run before every command that begins with the key.
	each map[string]func(context.Context, *fixture) error
	// exits are further exit codes that are right, of commands that begin with the key.
	exits map[string][]int
	// after undoes what emptying the system does not.
	after func(context.Context, *fixture) error
	// empty are commands that run on a control plane without Drover, as an installation does; nil: none.
	empty *regexp.Regexp
}

var (
	// everything matches each command.
	everything = regexp.MustCompile("")
	// named is the mention of a command's name, without an object.
	named = regexp.MustCompile(`^(kubectl|helm|bazel) [a-z]+( -k| -f -| secret docker-registry)?$`)
	makes = regexp.MustCompile(`^make [a-z-]+`)
)

// TestCommands runs the commands of every page, page after page, and compares what they print with what the page shows.
func TestCommands(t *testing.T) {
	root, err := cluster.SourceRoot()
	require.NoError(t, err)
	names, err := pages(root)
	require.NoError(t, err)
	sum, unused := counts{}, reasons()
	groups := map[string]page{}
	for _, name := range names {
		p, err := read(t.Context(), root, name)
		require.NoError(t, err)
		group := groupOf(name)
		groups[group] = page{append(groups[group].commands, p.commands...), append(groups[group].files, p.files...)}
	}
	for _, name := range slices.Sorted(maps.Keys(groups)) {
		if len(groups[name].commands) == 0 {
			continue
		}
		t.Run(name, func(t *testing.T) {
			f, err := newFixture(t, root)
			require.NoError(t, err)
			f.page(t, guideOf(name), groups[name], &sum, unused)
		})
	}
	t.Logf("%d commands in %d pages: %d run, %d run as `make -n`, %d not run for a reason", sum.run+sum.dry+sum.listed, len(names), sum.run,
		sum.dry, sum.listed)
	if !t.Failed() && !filtered() {
		require.Empty(t, unused, "reasons for commands that no page has")
	}
}

// groupOf is the page, or the directory of pages that only look.
func groupOf(page string) string {
	if dir := path.Dir(page); dir == "docs/alerts" {
		return dir
	}
	return page
}

// filtered reports whether some of the pages were selected by -run.
func filtered() bool {
	return slices.ContainsFunc(os.Args, func(arg string) bool { return strings.HasPrefix(arg, "-test.run=") })
}

// counts are numbers of commands.
type counts struct{ run, dry, listed int }

// page runs the commands of one page, in their order.
func (f *fixture) page(t *testing.T, g guide, p page, sum *counts, unused map[string]string) {
	for _, file := range p.files {
		require.NoError(t, f.write(file))
	}
	var ctx context.Context
	prepared, done := false, map[string]bool{}
	defer func() {
		if g.after != nil && prepared {
			require.NoError(t, g.after(ctx, f))
		}
	}()
	for _, c := range p.commands {
		text := strings.TrimSpace(c.text)
		if inline := c.inline && named.MatchString(text); inline {
			continue
		}
		if prefix := reasonFor(c); prefix != "" {
			sum.listed++
			delete(unused, prefix)
			continue
		}
		if makes.MatchString(text) {
			if printed, err := f.shell.run(t.Context(), c, "make -n "+strings.TrimPrefix(text, "make "), []int{0}); err != nil {
				t.Errorf("%s: %v\n%s", c, err, printed)
			}
			sum.dry++
			continue
		}
		if !prepared {
			ctx = sweeping(t)
		}
		if !prepared && g.empty != nil {
			require.NoError(t, f.startEmpty(t))
		}
		if !prepared && g.prepare != nil {
			require.NoError(t, g.prepare(ctx, f))
		}
		prepared = true
		for prefix, before := range g.before {
			if strings.HasPrefix(text, prefix) && !done[prefix] {
				done[prefix] = true
				require.NoError(t, before(ctx, f), "before %s", c)
			}
		}
		for prefix, before := range g.each {
			if strings.HasPrefix(text, prefix) {
				require.NoError(t, before(ctx, f), "before %s", c)
			}
		}
		sum.run++
		if g.words != nil {
			text = replaced(text, g.words(f))
		}
		if left := placeholder.FindString(text); left != "" && !strings.Contains(text, "<<") {
			t.Errorf("%s: nothing is known to put in the place of %s", c, left)
			continue
		}
		in := f.shell
		if g.empty != nil && g.empty.MatchString(text) {
			in = f.empty
		}
		began := time.Now()
		printed, err := in.run(ctx, c, text, append([]int{0}, exitsOf(g, text)...))
		if err != nil {
			t.Errorf("%s: %v\n%s", c, err, printed)
		}
		if testing.Verbose() {
			t.Logf("%s (%.1f s)\n%s", c, time.Since(began).Seconds(), printed)
		}
	}
}

// replaced replaces the longest words first.
func replaced(text string, by map[string]string) string {
	for _, word := range slices.SortedFunc(maps.Keys(by), func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) }) {
		text = strings.ReplaceAll(text, word, by[word])
	}
	return text
}

func exitsOf(g guide, text string) []int {
	for prefix, exits := range g.exits {
		if strings.HasPrefix(text, prefix) {
			return exits
		}
	}
	return nil
}

// reasonFor is the key of the reason why a command is not run; empty: it is.
func reasonFor(c command) string {
	for key := range reasons() {
		page, prefix, found := strings.Cut(key, ": ")
		if !found {
			page, prefix = "", key
		}
		if (page == "" || page == c.page) && strings.HasPrefix(strings.TrimSpace(c.text), prefix) {
			return key
		}
	}
	return ""
}

// write puts a file that the reader of a page is to write where the commands look for it.
func (f *fixture) write(file file) error {
	path := filepath.Join(f.shell.dir, file.path)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, []byte(file.text), 0o600)
}
