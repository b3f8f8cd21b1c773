package diskspace_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/diskspace"
)

const gib = int64(1) << 30

func TestWhenADiskIsTooFull(t *testing.T) {
	limits := diskspace.Limits{MinimalAvailable: 25, OverProvisioning: 100}
	for name, c := range map[string]struct {
		space    diskspace.Space
		pressure diskspace.Pressure
		sentence string
	}{
		"there is room": {diskspace.Space{Maximum: 100 * gib, Available: 26 * gib, Scheduled: 90 * gib, Reserved: 10 * gib},
			diskspace.None, ""},
		"nothing is free":     {diskspace.Space{Maximum: 100 * gib}, diskspace.Full, "no space left (0.0 of 100.0 GiB are free)"},
		"its size is unknown": {diskspace.Space{Available: gib}, diskspace.Full, "no space left"},
		"a quarter is free":   {diskspace.Space{Maximum: 100 * gib, Available: 25 * gib}, diskspace.LittleFree, "keeps 25 % free"},
		"more is promised than it has": {diskspace.Space{Maximum: 100 * gib, Available: 50 * gib, Scheduled: 91 * gib, Reserved: 10 * gib},
			diskspace.MuchPromised, "promised 91.0 GiB to replicas, and the setting storage-over-provisioning-percentage allows 100 % of 90.0 GiB"},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.pressure, limits.Pressure(c.space))
			sentence := limits.Explain("fast", c.space)
			require.Equal(t, c.sentence == "", sentence == "")
			require.Contains(t, sentence, c.sentence)
		})
	}
}
