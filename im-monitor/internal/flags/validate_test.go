package flags

import (
	"strings"
	"testing"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

func parsed(t *testing.T, args ...string) *Options {
	t.Helper()
	o := &Options{}
	set := pflag.NewFlagSet("im-monitor", pflag.ContinueOnError)
	o.Add(set)
	require.NoError(t, set.Parse(args))
	return o
}

func TestTheDefaultsAndShortWaitsAreValid(t *testing.T) {
	require.NoError(t, parsed(t).Validate())
	require.NoError(t, parsed(t, "--post-election-delay=0", "--v2-settle=0", "--absence-gap=1ms", "--v2-cpu-mask=[0,1]").Validate())
}

func TestEachValueThatSafetyCannotRestOnIsRefusedByName(t *testing.T) {
	for _, flag := range []string{
		"--post-election-delay=-1s", "--absence-gap=-5s", "--absence-gap=0s", "--v2-settle=-1s", "--list-timeout=0s",
		"--safety-list-period=0s",
		"--unreachable-after=0s", "--v2-cpu-mask=zz", "--v2-memory-mib=-1", "--v2-rediscovery=-1s", "--host-prefix=host",
		"--engine-binary-prefix=bin", "--instance-manager-cpu-percent=900",
	} {
		t.Run(flag, func(t *testing.T) {
			name, _, _ := strings.Cut(flag, "=")
			require.ErrorContains(t, parsed(t, flag).Validate(), name)
		})
	}
}

// Whoever deletes the Secret does not get plaintext.
func TestRequiredTLSEndsTheProcessWhereThereAreNoCertificates(t *testing.T) {
	require.ErrorContains(t, parsed(t, "--require-tls").Validate(), "--tls-dir")
	empty := parsed(t, "--require-tls", "--tls-dir="+t.TempDir())
	require.NoError(t, empty.Validate())
	_, err := empty.Dialer(nil)
	require.ErrorContains(t, err, "--require-tls")
	require.ErrorContains(t, err, "has none of ca.crt")
}

func TestAllMistakesAreSaidAtOnce(t *testing.T) {
	err := parsed(t, "--post-election-delay=-1s", "--list-timeout=0s").Validate()
	require.ErrorContains(t, err, "--post-election-delay")
	require.ErrorContains(t, err, "--list-timeout")
}
