package model

import (
	"flag"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/attach-controller/internal/attach"
)

// enough is how many worlds are run for a rule at most: the rarest bad world is one of about five thousand.
var enough = flag.Uint64("enough", 20000, "how many worlds are searched for one that is bad without a rule")

// sought is how many worlds are run for each rule without a known bad world.
var sought = flag.Uint64("sought", 0, "how many worlds are searched for one that is bad without a rule that no world is known for")

// without is a rule that is switched off, and seeds of worlds that were bad then.
type without struct {
	rule  attach.Rules
	seeds []uint64
}

func (w without) rules() attach.Rules { return attach.AllRules.Without(w.rule) }

var withouts = []without{
	{attach.CordonRefusesPeople, []uint64{15}},
	{attach.ReleaseUnattached, []uint64{2698}},
	{attach.ReleaseDown, []uint64{198}},
	{attach.InterruptForSelectable, []uint64{76}},
	{attach.InterruptForData, []uint64{80}},
	{attach.InterruptForFrontend, []uint64{14}},
	{attach.MigrationFailures, []uint64{225}},
	{attach.SatisfiedUnchanged, []uint64{12}},
	{attach.LowerFirst, []uint64{153}},
}

// unknown are rules without which every world so far is good.
var unknown = []without{{rule: attach.RollBackByTable}, {rule: attach.EvaluatedVersion}}

// The seeds only save time: if a change of the code or of the model changed their worlds, the test searches and reports the next bad one.
func TestWithoutAnyOneOfTheRulesSomeWorldIsBad(t *testing.T) {
	for _, off := range withouts {
		t.Run(off.rule.String(), func(t *testing.T) {
			t.Parallel()
			for _, seed := range off.seeds {
				if Play(seed, off.rules(), false).Broken != "" {
					require.Empty(t, Play(seed, attach.AllRules, false).Broken, "with the rule, the world is a good one")
					return
				}
			}
			seed, bad := search(off.rules(), *enough)
			require.True(t, bad, "all of %d worlds are good without the rule: it is superfluous, or the model does not cover it", *enough)
			t.Logf("seed %d", seed)
			require.Empty(t, Play(seed, attach.AllRules, false).Broken, "with the rule, the world is a good one")
		})
	}
}

// search finds the first world that is bad under the rules.
func search(rules attach.Rules, most uint64) (seed uint64, bad bool) {
	for seed := range most {
		if Play(seed, rules, false).Broken != "" {
			return seed, true
		}
	}
	return 0, false
}

// When a world is found for one of these, move the rule to the others.
func TestSearchBadWorldsOfRulesWithoutOne(t *testing.T) {
	for _, off := range unknown {
		t.Run(off.rule.String(), func(t *testing.T) {
			t.Parallel()
			seed, bad := search(off.rules(), *sought)
			require.False(t, bad, "world %d is bad without the rule: add it to the table", seed)
		})
	}
}

func TestEveryRuleOfTheTableIsSwitchedOffOnce(t *testing.T) {
	var off attach.Rules
	for _, one := range append(slices.Clone(withouts), unknown...) {
		off |= one.rule
	}
	require.Equal(t, attach.AllRules, off)
}
