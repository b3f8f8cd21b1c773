package model

import (
	"drover.dev/drover/attach-controller/internal/attach"
	"drover.dev/drover/attach-controller/internal/machine"
)

type without struct {
	name  string
	rules Rules
}

func withouts() []without {
	var out []without
	for _, r := range attach.Each() {
		out = append(out, without{r.String(), Rules{Attach: attach.AllRules.Without(r)}})
	}
	for i, name := range []string{"creating", "attach-error", "down-holds-nothing", "fail-first", "modes-of-this-run", "salvage-waits", "modes-at-close"} {
		out = append(out, without{name, Rules{Attach: attach.AllRules, Machine: machine.Rules(1 << i)}})
	}
	return out
}
