package main

import (
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

func TestEveryRuleOfLiveUpgradesStillMatchesTheSources(t *testing.T) {
	for _, r := range moveRules() {
		_, err := world.Mutate(r.edit)
		require.NoError(t, err, r.name)
	}
}
