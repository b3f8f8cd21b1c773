package runkit_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/runkit"
)

func TestAFlagIsUnderstoodByItsOldName(t *testing.T) {
	var output bytes.Buffer
	flags := pflag.NewFlagSet("tester", pflag.ContinueOnError)
	flags.SetOutput(&output)
	patience := flags.Duration("stall-timeout", time.Minute, "how long")
	runkit.RenamedFlag(flags, "patience", "stall-timeout")
	require.NotContains(t, flags.FlagUsages(), "--patience")

	require.NoError(t, flags.Parse([]string{"--patience=3s"}))
	require.Equal(t, 3*time.Second, *patience)
	require.Contains(t, output.String(), "--patience has been deprecated, use --stall-timeout")

	require.NoError(t, flags.Parse([]string{"--stall-timeout=5s"}))
	require.Equal(t, 5*time.Second, *patience)
}
