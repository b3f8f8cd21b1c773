package main

import (
	"go/parser"
	"go/token"
	"path"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/world"
)

func TestEveryMutantStillMatchesTheSources(t *testing.T) {
	for _, p := range mutants() {
		requireParses(t, p.name, p.edits)
	}
}

func TestEveryRuleStillMatchesTheSources(t *testing.T) {
	for _, r := range allRules() {
		requireParses(t, r.name, r.edits)
		require.NotEmpty(t, r.edits, r.name)
		require.NotEmpty(t, r.tests, r.name)
	}
}

// requireParses: each edit finds its text or function, and the edited copies are Go, so that the tests run on them at all.
func requireParses(t *testing.T, name string, edits []world.Edit) {
	t.Helper()
	overlay, err := world.Mutate(edits...)
	require.NoError(t, err, name)
	for file, content := range overlay {
		if path.Ext(file) == ".go" {
			_, err := parser.ParseFile(token.NewFileSet(), file, content, parser.SkipObjectResolution)
			require.NoError(t, err, "%s: %s", name, file)
		}
	}
}
