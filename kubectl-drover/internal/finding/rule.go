// Package finding reads conditions: which of them is as wanted, which continues by itself, which waits for a person, and the command
// that mends it. The reasons are those of the table in shared/api/v1beta2; a test holds that each of them has one rule here. What to do
// about a reason, in sentences, stands in the guides of docs alone, and the rule names the guide.
package finding

import (
	"strings"

	"drover.dev/drover/shared/api/v1beta2"
)

// Severity orders findings.
type Severity int

// The severities.
const (
	// Well is a condition as it is wanted.
	Well Severity = iota
	// Continues goes on by itself.
	Continues
	// Info waits for no one; a person may decide something.
	Info
	// Warning waits for a person.
	Warning
	// Critical waits for a person, and a volume cannot be used, or a controller does not lead.
	Critical
)

var severityNames = [...]string{"well", "continues", "info", "warning", "critical"}

// String returns its name in lower case.
func (s Severity) String() string { return severityNames[s] }

// MarshalText writes the name.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// Rule is what a reason of a condition means to a person.
type Rule struct {
	Severity Severity
	// Command is the next one to type, with {ns}, {kind}, {name}, {volume}, {node} and {manager} for the object's; empty where there is
	// nothing to type.
	Command string
	// Guide is the page that shows what to do about the reason, from the root of the repository.
	Guide string
}

// key names a reason of a condition of a kind.
type key struct{ kind, condition, reason string }

var rules = table()

// RuleOf returns the rule of a reason. One that is not listed comes from a newer controller, and continues by itself.
func RuleOf(kind, condition, reason string) Rule {
	rule, ok := rules[key{kind, condition, v1beta2.PresentReason(condition, reason)}]
	if !ok {
		return Rule{Severity: Continues}
	}
	return rule
}

// of is the rules of one condition of some kinds, by severity.
type of struct {
	kinds     string // separated by spaces
	condition string
	guide     string
	command   string // of those that wait for a person and have none in commands

	well, continues, info, warning, critical string // reasons, separated by spaces
	commands                                 map[string]string
}

func (c of) add(to map[key]Rule) {
	for _, kind := range strings.Fields(c.kinds) {
		for severity, reasons := range []string{c.well, c.continues, c.info, c.warning, c.critical} {
			for _, reason := range strings.Fields(reasons) {
				rule := Rule{Severity: Severity(severity)}
				if rule.Severity > Well {
					rule.Command, rule.Guide = c.commands[reason], c.guideOf(kind)
				}
				if rule.Severity > Well && rule.Command == "" {
					rule.Command = c.command
				}
				to[key{kind, c.condition, reason}] = rule
			}
		}
	}
}

func (c of) guideOf(kind string) string {
	if c.guide == "" {
		return "docs/crds/" + strings.ToLower(kind) + ".md"
	}
	return "docs/" + c.guide
}

func table() map[key]Rule {
	out := map[key]Rule{}
	for _, part := range [][]of{attaching(), instances(), nodes(), snapshots(), orphans(), upgrades()} {
		for _, one := range part {
			one.add(out)
		}
	}
	return out
}
