package runkit

import (
	"os"
	"testing"
	"time"

	"github.com/spf13/pflag"
	"github.com/stretchr/testify/require"
)

func parsed(t *testing.T, args ...string) *options {
	t.Helper()
	o := &options{}
	flags := pflag.NewFlagSet("test", pflag.ContinueOnError)
	o.addFlags(flags, false)
	require.NoError(t, flags.Parse(args))
	return o
}

func TestTheDefaultsAreValid(t *testing.T) {
	t.Setenv("POD_NAMESPACE", "")
	o := parsed(t)
	require.NoError(t, o.validate())
	require.Equal(t, "longhorn-system", o.namespace)
}

func TestThePodsNamespaceIsTheDefault(t *testing.T) {
	t.Setenv("POD_NAMESPACE", "storage")
	require.Equal(t, "storage", parsed(t).namespace)
}

func TestEveryFlagThatCannotBeServedIsNamedAtOnce(t *testing.T) {
	cases := map[string]struct {
		args     []string
		problems []string
	}{
		"a lease that ends before its leader stops": {
			[]string{"--lease-duration=5s", "--renew-deadline=5s", "--retry-period=1s"}, []string{"--lease-duration", "--renew-deadline"}},
		"a renewal that is tried too seldom": {
			[]string{"--renew-deadline=2s", "--retry-period=2s"}, []string{"--retry-period"}},
		"two mistakes": {
			[]string{"--log-level=loud", "--namespace="}, []string{"loud", "--namespace"}},
		"profiles for other machines": {
			[]string{"--profile-address=:6060"}, []string{"--profile-address :6060", "127.0.0.1:6060"}},
		"profiles at no address": {
			[]string{"--profile-address=6060"}, []string{"--profile-address", "127.0.0.1:6060"}},
		"an unknown log format": {
			[]string{"--log-format=xml"}, []string{"json or text"}},
	}
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			err := parsed(t, c.args...).validate()
			require.Error(t, err)
			for _, word := range c.problems {
				require.ErrorContains(t, err, word)
			}
		})
	}
}

func TestAMissingKubeconfigSaysWhatToSet(t *testing.T) {
	o := parsed(t, "--kubeconfig=/nonexistent/kubeconfig")
	_, err := o.restConfig("drover-test")
	require.ErrorContains(t, err, "--kubeconfig")
}

func TestADeadConnectionIsDetectedBeforeALeaseIsLost(t *testing.T) {
	t.Setenv("HTTP2_READ_IDLE_TIMEOUT_SECONDS", "")
	t.Setenv("HTTP2_PING_TIMEOUT_SECONDS", "3")
	require.NoError(t, detectDeadConnections())
	require.Equal(t, "5", os.Getenv("HTTP2_READ_IDLE_TIMEOUT_SECONDS"))
	require.Equal(t, "3", os.Getenv("HTTP2_PING_TIMEOUT_SECONDS"), "what a person set stays")
}

func TestElectionIsNeverDatedBeforeItHappened(t *testing.T) {
	elected := make(chan struct{})
	since := electedAt(t.Context(), elected, steps{time.Unix(100, 0)})
	require.True(t, since().IsZero(), "until then no process may count as a leader")
	close(elected)
	require.Equal(t, time.Unix(100, 0), since())
}

type steps struct{ now time.Time }

func (s steps) Now() time.Time                  { return s.now }
func (s steps) Since(t time.Time) time.Duration { return s.now.Sub(t) }
