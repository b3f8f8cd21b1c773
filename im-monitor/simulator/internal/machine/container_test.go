package machine

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAContainerEndsAtAnOptionThatItsImageLacks(t *testing.T) {
	starts := func(image string, args ...string) error { return Container{Image: image, Arguments: args}.starts() }
	v1 := []string{"instance-manager", "--debug", "daemon", "--listen", ":8500"}
	v2 := []string{"start-spdk-tgt", "--spdk-cpumask", "0x3", "--spdk-core-number", "0", "--spdk-memory-size", "2048", "--enable-spdk",
		"--debug", "daemon", "--spdk-enabled", "--listen", "0.0.0.0:8500"}
	require.NoError(t, starts("im:v1.12.0", v1...))
	require.NoError(t, starts("registry:5000/im:v1.12.1", v2...))
	require.NoError(t, starts("im:v1.12.0"))
	require.ErrorContains(t, starts("im:v1.12.0", v2...), "no such file")
	require.ErrorContains(t, starts("im:v1.12.1", append(v2, "--spdk-log", "/log/spdk_tgt.log")...), "unknown log flag")
	require.ErrorIs(t, starts("im:v1.12.0", v2...), ErrEnded)
}
