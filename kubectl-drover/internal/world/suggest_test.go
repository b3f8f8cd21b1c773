package world

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestACommandWithoutItsNameIsNotSuggested(t *testing.T) {
	w := &World{Namespace: "longhorn-system"}
	const describe, detach = "kubectl -n {ns} describe lhv {volume}", "kubectl drover detach {volume} --ticket='{ticket}' -n {ns}"
	for _, test := range []struct {
		command string
		values  Values
		want    string
	}{
		{describe, Values{"volume": "vol-1"}, "kubectl -n longhorn-system describe lhv vol-1"},
		{describe, Values{"volume": ""}, ""},
		{describe, nil, ""},
		{describe, Values{"volume": "--all"}, ""},
		{describe, Values{"volume": "a;reboot"}, ""},
		{describe, Values{"volume": "a\nb"}, ""},
		{detach, Values{"volume": "vol-1", "ticket": "by-hand"}, "kubectl drover detach vol-1 --ticket=by-hand -n longhorn-system"},
		{detach, Values{"volume": "vol-1", "ticket": "it's $(mine)"},
			`kubectl drover detach vol-1 --ticket='it'\''s $(mine)' -n longhorn-system`},
		{detach, Values{"volume": "vol-1", "ticket": ""}, ""},
		{detach, Values{"volume": "vol-1", "ticket": "a\x1b[2J"}, ""},
		{"kubectl get crd", nil, "kubectl get crd"},
	} {
		require.Equal(t, test.want, w.Suggest(test.command, test.values), "%s %v", test.command, test.values)
	}
	require.Empty(t, (&World{}).Suggest(describe, Values{"volume": "vol-1"}), "no namespace is known")
}

func TestASuggestedCommandIsForTheSameCluster(t *testing.T) {
	w := &World{Namespace: "longhorn-system", Connection: []string{"--context", "prod east", "--as", "alice"}}
	require.Equal(t, "kubectl drover why vol-1 -n longhorn-system --context 'prod east' --as alice",
		w.Suggest("kubectl drover why {volume} -n {ns}", Values{"volume": "vol-1"}))
}
