package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// The two binaries are known by their commands before anything is built: with the wrong one each scenario fails.
func TestABinaryIsKnownByItsCommands(t *testing.T) {
	t.Chdir(t.TempDir())
	program := func(name, script string) string {
		require.NoError(t, os.WriteFile(name, []byte("#!/bin/sh\n"+script+"\n"), 0o755))
		return "./" + name
	}
	manager := program("manager", "echo COMMANDS:; echo '   daemon   '; echo '   process  '")
	engine := program("engine", "echo COMMANDS:; echo '   controller   '; echo '   replica'; echo '   sync-agent'")
	broken := program("broken", "exit 1")
	for name, c := range map[string]struct{ path, problem string }{
		"the instance manager": {manager, ""},
		"no path":              {"", "INSTANCE_MANAGER is missing"},
		"a path without file":  {"./absent", "does not run on this machine"},
		"a program that fails": {broken, "does not run on this machine"},
		"the other binary":     {engine, "is another program: its help names no command daemon"},
	} {
		found, err := usable("INSTANCE_MANAGER", c.path, "daemon")
		if c.problem != "" {
			require.ErrorContains(t, err, c.problem, name)
			continue
		}
		require.NoError(t, err, name)
		require.True(t, filepath.IsAbs(found), "the scenarios run in other directories")
	}
}
