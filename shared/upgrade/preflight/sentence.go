package preflight

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// most bounds the number of blockers that are reported each; a status that holds them all in several places would grow until the API server
// refuses it.
const most = 200

// mostNames bounds a list of names in a message.
const mostNames = 20

// Sentence is all blockers, one after the other, those first that do not end by themselves. What blocks several nodes in the same way is
// reported once, with all of them. Of very many the first ones are reported, and how many more there are of each kind.
func Sentence(list []Blocker) string {
	alike := grouped(list)
	reported := alike[:min(len(alike), most)]
	lines := make([]string, 0, len(reported)+1)
	for _, g := range reported {
		lines = append(lines, sentence(g))
	}
	if rest := slices.Concat(alike[len(reported):]...); len(rest) > 0 {
		lines = append(lines, fmt.Sprintf("And %d more: %s.", len(rest), kinds(rest)))
	}
	return strings.Join(lines, " ")
}

// grouped puts those together that differ by their nodes only, in the order in which they were found, and what ends by itself last.
func grouped(list []Blocker) [][]Blocker {
	var out [][]Blocker
	index := map[Blocker]int{}
	for _, b := range list {
		alike := b
		alike.Node = ""
		if i, ok := index[alike]; ok {
			out[i] = append(out[i], b)
			continue
		}
		index[alike] = len(out)
		out = append(out, []Blocker{b})
	}
	lasting := func(g []Blocker) bool { return !g[0].Kind.Passes() }
	passing := slices.DeleteFunc(slices.Clone(out), lasting)
	return append(slices.DeleteFunc(out, func(g []Blocker) bool { return !lasting(g) }), passing...)
}

// sentence is one blocker, of one node or of several.
func sentence(alike []Blocker) string {
	b, where := alike[0], "Node "+alike[0].Node
	if b.Node == "" {
		return fmt.Sprintf("%s: %s", b.Kind, b.Message)
	}
	if len(alike) > 1 {
		nodes := make([]string, 0, len(alike))
		for _, one := range alike {
			nodes = append(nodes, one.Node)
		}
		where = "Nodes " + Names(nodes)
	}
	if b.Volume != "" {
		where += ", volume " + b.Volume
	}
	return fmt.Sprintf("%s: %s: %s", where, b.Kind, b.Message)
}

// Names lists the first of many, and how many more there are.
func Names(names []string) string {
	if more := len(names) - mostNames; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:mostNames], ", "), more)
	}
	return strings.Join(names, ", ")
}

func kinds(list []Blocker) string {
	counts := map[Kind]int{}
	for _, b := range list {
		counts[b.Kind]++
	}
	out := make([]string, 0, len(counts))
	for _, kind := range slices.Sorted(maps.Keys(counts)) {
		out = append(out, fmt.Sprintf("%d %s", counts[kind], kind))
	}
	return strings.Join(out, ", ")
}
