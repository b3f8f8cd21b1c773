package finding

import "drover.dev/drover/kubectl-drover/internal/terminal"

// Style returns how a severity stands out on a terminal.
func Style(s Severity) terminal.Style {
	return [...]terminal.Style{terminal.Good, terminal.Plain, terminal.Plain, terminal.Warning, terminal.Bad}[s]
}
