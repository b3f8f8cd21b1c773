package runkit

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// A flag that has no effect would promise what the program does not do.
func TestAStatelessProgramHasNoFlagsOfALease(t *testing.T) {
	for _, stateless := range []bool{false, true} {
		command := Command(Program{Name: "tester", Stateless: stateless})
		for _, name := range []string{"leader-elect", "lease-duration", "renew-deadline", "retry-period", "lease-lock-dir"} {
			require.Equal(t, !stateless, command.Flags().Lookup(name) != nil, name)
		}
		require.NotNil(t, command.Flags().Lookup("kubeconfig"))
	}
}
