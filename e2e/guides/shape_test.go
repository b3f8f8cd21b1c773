package guides

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOutputsAreComparedInShape(t *testing.T) {
	table := "NAME    STATE      AGE\nvol-1   attached   12s\n"
	for name, c := range map[string]struct {
		shown   []string
		output  string
		follows bool
		missing string
	}{
		"times, numbers and widths may differ": {shown: []string{"NAME  STATE  AGE", "vol-1  attached  3m2s"}, output: table},
		"a column that is gone is found": {shown: []string{"NAME  STATE  NODE  AGE", "…"}, output: table,
			missing: "NAME  STATE  NODE  AGE"},
		"another state is found": {shown: []string{"NAME  STATE  AGE", "vol-1  detached  3s"}, output: table,
			missing: "vol-1  detached  3s"},
		"a line that is not shown is found": {shown: []string{"NAME  STATE  AGE"}, output: table,
			missing: "(nothing more, but there is: vol-1   attached   12s)"},
		"an ellipsis is any number of lines":   {shown: []string{"NAME  STATE  AGE", "…"}, output: table},
		"an ellipsis is anything in its line":  {shown: []string{"NAME  …", "vol-1  …"}, output: table},
		"names of replicas may differ":         {shown: []string{"vol-1-r-0a1b2c3d  RW"}, output: "vol-1-r-ffffffff  RW\n"},
		"what is followed may have more lines": {shown: []string{"a 1", "c 3"}, output: "a 1\nb 2\nc 3\n", follows: true},
		"what is followed keeps its order":     {shown: []string{"c", "a"}, output: "a\nb\nc\n", follows: true, missing: "a"},
	} {
		t.Run(name, func(t *testing.T) {
			missing, differs := unlike(c.shown, c.output, c.follows)
			require.Equal(t, c.missing, missing)
			require.Equal(t, c.missing != "", differs)
		})
	}
}

func TestABlockIsDividedIntoCommands(t *testing.T) {
	sh, err := split(t.Context(), []string{
		"# a comment", "kubectl get \\", "  pods   # at last", "kubectl apply -f - <<'END'", "kind: Pod", "END", "",
		"for a in b; do", "  echo '", "'", "done"}, false)
	require.NoError(t, err)
	require.Equal(t, []string{"kubectl get \\\n  pods   # at last", "kubectl apply -f - <<'END'\nkind: Pod\nEND",
		"for a in b; do\n  echo '\n'\ndone"}, texts(sh))
	console, err := split(t.Context(), []string{"$ kubectl get \\", "    pods", "NAME", "p", "$ true"}, true)
	require.NoError(t, err)
	require.Equal(t, []string{"kubectl get \\\n    pods", "true"}, texts(console))
	require.Equal(t, []string{"NAME", "p"}, console[0].shown)
	_, err = split(t.Context(), []string{"NAME", "$ true"}, true)
	require.ErrorContains(t, err, "is the output of no command")
	_, err = split(t.Context(), []string{"echo '"}, false)
	require.ErrorContains(t, err, "has no end")
}

func texts(commands []command) []string {
	var out []string
	for _, c := range commands {
		out = append(out, c.text)
	}
	return out
}
