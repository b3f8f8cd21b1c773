package architecture

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// aCommand is a command line in a text.
var aCommand = regexp.MustCompile(`kubectl (-n |drover |get |describe |edit |logs |auth |config |cluster-info|apply |uncordon )`)

// Typed as it is suggested, a command must be about the cluster and the namespace that were asked about: what is written into a sentence
// without Suggest lacks --context and --kubeconfig.
func TestEverySuggestedCommandIsMadeBySuggest(t *testing.T) {
	count := 0
	plugin := filepath.Join(root, "kubectl-drover", "internal")
	require.NoError(t, filepath.WalkDir(plugin, func(path string, entry os.DirEntry, err error) error {
		// the page and what a redacted value is replaced by suggest nothing
		if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
			slices.Contains([]string{"page.go", "redact.go"}, entry.Name()) {
			return err
		}
		set := token.NewFileSet()
		file, err := parser.ParseFile(set, path, nil, parser.SkipObjectResolution)
		require.NoError(t, err)
		for _, literal := range commandsIn(file) {
			count++
			place := set.Position(literal.lit.Pos())
			require.Regexp(t, "^[\"`]kubectl [^%]*$", literal.lit.Value, "%s: a command that Suggest does not make", place)
			require.True(t, literal.suggested || strings.Contains(literal.lit.Value, "{"), "%s: a command that is not given to Suggest", place)
		}
		return nil
	}))
	require.Greater(t, count, 50)
}

// commandLiteral is a literal with a command; suggested is one that is an argument of Suggest, or of a rule that gives it to Suggest.
type commandLiteral struct {
	lit       *ast.BasicLit
	suggested bool
}

// commandsIn returns the literals with commands in a file, but for the texts of the help.
func commandsIn(file *ast.File) []commandLiteral {
	var out []commandLiteral
	var stack []ast.Node
	ast.Inspect(file, func(node ast.Node) bool {
		if node == nil {
			stack = stack[:len(stack)-1]
			return true
		}
		stack = append(stack, node)
		if lit, ok := node.(*ast.BasicLit); ok && lit.Kind == token.STRING && aCommand.MatchString(lit.Value) && !slices.ContainsFunc(stack,
			isHelp) {
			out = append(out, commandLiteral{lit, slices.ContainsFunc(stack, isSuggest)})
		}
		return true
	})
	return out
}

// isHelp reports whether the node is a text of the help: the value of a cobra.Command's field.
func isHelp(node ast.Node) bool {
	pair, ok := node.(*ast.KeyValueExpr)
	if !ok {
		return false
	}
	key, ok := pair.Key.(*ast.Ident)
	return ok && slices.Contains([]string{"Long", "Short", "Example"}, key.Name)
}

func isSuggest(node ast.Node) bool {
	switch n := node.(type) {
	case *ast.CallExpr:
		switch name := n.Fun.(type) {
		case *ast.SelectorExpr:
			return slices.Contains([]string{"Suggest", "suggest", "Expand"}, name.Sel.Name)
		case *ast.Ident:
			return name.Name == "Expand"
		}
	case *ast.KeyValueExpr: // of a rule
		key, ok := n.Key.(*ast.Ident)
		return ok && key.Name == "command"
	}
	return false
}
