package model

import (
	"flag"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/attach-controller/internal/attach"
	"drover.dev/drover/attach-controller/internal/machine"
)

// enough is how many worlds are run for a rule at most: the rarest bad world is one of about five thousand.
var enough = flag.Uint64("enough", 20000, "how many worlds are searched for one that is bad without a rule")

// sought is how many worlds are run for each rule without a known bad world.
var sought = flag.Uint64("sought", 0, "how many worlds are searched for one that is bad without a rule that no world is known for")

// without is a rule that is switched off, and seeds of worlds that were bad then.
type without struct {
	name  string
	rules Rules
	seeds []uint64
}

func withoutAttach(rule attach.Rules, seeds ...uint64) without {
	return without{rule.String(), Rules{Attach: attach.AllRules.Without(rule)}, seeds}
}

func withoutMachine(name string, rule machine.Rules, seeds ...uint64) without {
	return without{name, Rules{Attach: attach.AllRules, Machine: rule}, seeds}
}

var withouts = []without{
	withoutAttach(attach.CordonRefusesPeople, 15),
	withoutAttach(attach.ReleaseUnattached, 2698),
	withoutAttach(attach.ReleaseDown, 198),
	withoutAttach(attach.InterruptForSelectable, 76),
	withoutAttach(attach.InterruptForData, 80),
	withoutAttach(attach.InterruptForFrontend, 14),
	withoutAttach(attach.MigrationFailures, 225),
	withoutAttach(attach.SatisfiedUnchanged, 12),
	withoutAttach(attach.LowerFirst, 153),
	withoutMachine("creating", machine.RuleCreating, 43),
	withoutMachine("attach-error", machine.RuleAttachError, 221),
	withoutMachine("down-holds-nothing", machine.RuleDownHoldsNothing, 40),
	withoutMachine("salvage-waits", machine.RuleSalvageWaits, 488),
	withoutMachine("modes-at-close", machine.RuleModesAtClose, 1280),
}

// unknown are rules without which every world so far is good.
var unknown = []without{
	withoutAttach(attach.RollBackByTable),
	withoutAttach(attach.EvaluatedVersion),
	withoutMachine("modes-of-this-run", machine.RuleModesOfThisRun),
	// An engine that wrote alone reports that when its node is back, and that counts before the next run. The rule is for an engine that
	// ends before it is polled; in a world, a partitioned engine always still exists.
	withoutMachine("fail-first", machine.RuleFailFirst),
}

// The seeds only save time: if a change of the code or of the model changed their worlds, the test searches and reports the next bad one.
func TestWithoutAnyOneOfTheRulesSomeWorldIsBad(t *testing.T) {
	for _, off := range withouts {
		t.Run(off.name, func(t *testing.T) {
			t.Parallel()
			for _, seed := range off.seeds {
				if Play(seed, off.rules, false).Broken != "" {
					require.Empty(t, Play(seed, AllRules, false).Broken, "with the rule, the world is a good one")
					return
				}
			}
			seed, bad := search(off.rules, *enough)
			require.True(t, bad, "all of %d worlds are good without the rule: it is superfluous, or the model does not cover it", *enough)
			t.Logf("seed %d", seed)
			require.Empty(t, Play(seed, AllRules, false).Broken, "with the rule, the world is a good one")
		})
	}
}

// search finds the first world that is bad under the rules.
func search(rules Rules, most uint64) (seed uint64, bad bool) {
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
		t.Run(off.name, func(t *testing.T) {
			t.Parallel()
			seed, bad := search(off.rules, *sought)
			require.False(t, bad, "world %d is bad without the rule: add it to the table", seed)
		})
	}
}

func TestEveryRuleOfTheTableIsSwitchedOffOnce(t *testing.T) {
	var off attach.Rules
	for _, one := range append(slices.Clone(withouts), unknown...) {
		off |= attach.AllRules &^ one.rules.Attach
	}
	require.Equal(t, attach.AllRules, off)
}
