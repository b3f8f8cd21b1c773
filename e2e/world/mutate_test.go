package world

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAFunctionIsEditedByItsName(t *testing.T) {
	const source = `package p

func one() bool { return true }

type T int

func (t *T) one() bool {
	if t == nil {
		return true
	}
	return one()
}
`
	root := t.TempDir()
	require.NoError(t, os.MkdirAll(filepath.Join(root, "p"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(root, "p", "p.go"), []byte(source), 0o644))
	require.NoError(t, os.WriteFile(filepath.Join(root, "p", "p_test.go"), []byte(source), 0o644))

	out := Overlay{}
	require.NoError(t, editFunction(root, Edit{File: "p", Func: "one", To: "return false"}, out))
	require.NoError(t, editFunction(root, Edit{File: "p", Func: "T.one", From: "return true", To: "return false"}, out))
	want := strings.Replace(source, "one() bool { return true }", "one() bool {\nreturn false\n return true }", 1)
	want = strings.Replace(want, "		return true", "		return false", 1)
	require.Equal(t, want, string(out[filepath.Join("p", "p.go")]))
	require.Len(t, out, 1, "tests are not edited")

	require.ErrorContains(t, editFunction(root, Edit{File: "p", Func: "two", To: "return"}, out), "0 functions two")
	require.ErrorContains(t, editFunction(root, Edit{File: "p", Func: "T.one", From: "else", To: ""}, out), "0 times")
}
