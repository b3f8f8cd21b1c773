package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAPageIsPrintedWithItsCommandsIndented(t *testing.T) {
	page := "# Title\n\nTry:\n\n```sh\nkubectl -n longhorn-system get lhv\n```\n\nMore:\n"
	require.Equal(t, "Try:\n\n  kubectl -n here get lhv\n\nMore:\n", keepText(page, "here"))
	require.NotContains(t, keepText(keepPage, "here"), "`")
}
