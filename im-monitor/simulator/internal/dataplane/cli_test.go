package dataplane

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatAProcessTakesOfItsArguments(t *testing.T) {
	for name, c := range map[string]struct {
		cli         int
		args, known string
		ends        bool
	}{
		"an engine takes all that it knows": {12, "--engine-instance-name e controller v --size 1 --replica r", "", false},
		"an engine ignores an unknown flag with its value": {12, "controller v --size 1 --other 7 --replica r",
			"controller v --size 1 --replica r", false},
		"an engine of an older image ignores a flag of today": {9, "controller v --snapshot-max-count 5 --size 1", "controller v --size 1",
			false},
		"an unknown flag behind one without a value ends an engine": {12, "controller v --disableRevCounter --other --size 1", "", true},
		"an unknown flag in front of the command ends an engine":    {8, "--engine-instance-name e controller v", "", true},
		"an unknown flag ends a replica":                            {12, "--volume-name v replica /d --size 1 --other 7", "", true},
		"a further name ends a replica":                             {12, "--volume-name v replica /d x --size 1", "", true},
		"a replica of an older image ends over a flag of today":     {9, "--volume-name v replica /d --snapshot-max-count 5", "", true},
		"no command ends": {12, "--size 1", "", true},
	} {
		t.Run(name, func(t *testing.T) {
			known, problem := arguments(strings.Fields(c.args)).understood(c.cli)
			require.Equal(t, c.ends, problem != "", problem)
			if !c.ends {
				want := c.known
				if want == "" {
					want = c.args
				}
				require.Equal(t, want, strings.Join(known, " "))
			}
		})
	}
}
