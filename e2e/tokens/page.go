package main

import (
	"fmt"
	"slices"
	"strings"
)

const head = `# What a stolen token reaches

Written by ` + "`make generate`" + ` from the generated Roles (` + "`<binary>/deploy/role.yaml`" +
	`). A test compares every table with what a real API server grants,
and every named policy with what it refuses.

Each controller acts with the token of its service account, which lies in its pod. Root on the node of the pod has it, and so has every
user who may create pods, exec into pods, or create tokens (` + "`serviceaccounts/token`" +
	`) in the namespace. This page describes what one stolen token allows. It does not cover anything
about the network: a pod that reaches an instance manager's ports 8500 to 8504 needs no token at all where mutual TLS is not in use, see
[installing](install.md#hardening).

`

const strength = `## Who is as strong as root
| token of | as strong as root on the nodes | destroys data of volumes | takes volumes from their pods | reads Secrets |
|---|---|---|---|---|
`

// page is docs/tokens.md.
func page(tokens []token) (string, error) {
	var out strings.Builder
	out.WriteString(head + strength)
	for _, t := range tokens {
		s, found := strengths[t.binary]
		if !found {
			return "", fmt.Errorf("strengths has no row for %s", t.binary)
		}
		fmt.Fprintf(&out, "| `%s` | %s | %s | %s | %s |\n", t.binary, s.root, s.data, s.volumes, s.secrets)
	}
	out.WriteString("\n" + afterStrength)
	used := map[meaningKey]bool{}
	for _, t := range tokens {
		if err := section(&out, t, used); err != nil {
			return "", err
		}
	}
	for key := range meanings {
		if !used[key] {
			return "", fmt.Errorf("meanings has %+v, which no Role grants: remove it", key)
		}
	}
	return out.String(), nil
}

// section is the page's text about one binary.
func section(out *strings.Builder, t token, used map[meaningKey]bool) error {
	fmt.Fprintf(out, "\n## %s\n%s\n\n", t.binary, strengths[t.binary].summary)
	out.WriteString("| where | what | which | may | so a thief |\n|---|---|---|---|---|\n")
	for _, row := range rows(t.rights) {
		means, err := row.meaning(t.binary, used)
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "| %s | `%s` | %s | %s | %s |\n", row.where(), row.kind, row.which(), strings.Join(row.verbs, ", "), means)
	}
	return nil
}

// row is all that a token may do to one kind, or to one object of it.
type row struct {
	right
	kind  string
	verbs []string
}

func rows(rights []right) []row {
	byPlace := map[right]*row{}
	var order []*row
	for _, r := range rights {
		place := r
		place.verb = ""
		if byPlace[place] == nil {
			byPlace[place] = &row{right: place, kind: r.kind()}
			order = append(order, byPlace[place])
		}
		byPlace[place].verbs = append(byPlace[place].verbs, r.verb)
	}
	var out []row
	for _, r := range order {
		out = append(out, *r)
	}
	return out
}

func (r row) where() string {
	if r.everywhere {
		return everywhere
	}
	return inNamespace
}

func (r row) which() string {
	if r.name == "" {
		return anyName
	}
	return "`" + r.name + "`"
}

const everywhere, inNamespace, anyName = "everywhere", "the namespace", "all"

// meaning is the sentence of the row: that of its writes, or that it only reads.
func (r row) meaning(binary string, used map[meaningKey]bool) (string, error) {
	writes := slices.DeleteFunc(slices.Clone(r.verbs), reads)
	if len(writes) == 0 {
		return "reads them", nil
	}
	key := meaningKey{kind: r.kind, name: r.name, binary: binary}
	means, found := meanings[key]
	if !found {
		key.binary = ""
		means, found = meanings[key]
	}
	if !found {
		return "", fmt.Errorf("%s may %s %s %s: write in meanings.go what a thief does with that", binary, strings.Join(writes, ", "),
			r.kind,
			r.name)
	}
	used[key] = true
	return means, nil
}

// reads reports whether the verb changes nothing.
func reads(verb string) bool { return slices.Contains([]string{"get", "list", "watch"}, verb) }
