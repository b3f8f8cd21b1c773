package main

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/world"
)

func TestEveryMutantStillMatchesTheSources(t *testing.T) {
	for _, p := range mutants() {
		_, err := world.Mutate(p.edits...)
		require.NoError(t, err, p.name)
	}
}

func TestEveryRuleStillMatchesTheSources(t *testing.T) {
	for _, r := range slices.Concat(moveRules(), attachRules()) {
		_, err := world.Mutate(r.edits...)
		require.NoError(t, err, r.name)
	}
}
