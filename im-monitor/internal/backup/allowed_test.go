package backup

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOnlyTheVersionThatWasEvaluatedIsRequested(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*CallWorld)
		want   string
	}{
		{"as evaluated", func(*CallWorld) {}, ""},
		{"requested meanwhile", func(w *CallWorld) { w.Now.Version = "2" }, "the Backup changed since the evaluation"},
		{"gone", func(w *CallWorld) { w.Now = nil }, "the Backup changed since the evaluation"},
		{"without a target", func(w *CallWorld) { w.Target = nil }, "backup target s3 is gone, being deleted, or has no URL"},
		{"with a target without URL", func(w *CallWorld) { w.Target.URL = "" }, "backup target s3 is gone, being deleted, or has no URL"},
		{"with a target that goes", func(w *CallWorld) { w.Target.Deleting = true }, "backup target s3 is gone, being deleted, or has no URL"},
	} {
		t.Run(c.name, func(t *testing.T) {
			w := CallWorld{Evaluated: Backup{Version: "1"}, Now: &Backup{Version: "1"}, TargetName: "s3", Target: &Target{URL: "s3://b@r/"}}
			c.change(&w)
			if c.want == "" {
				require.NoError(t, Allowed(w))
			} else {
				require.EqualError(t, Allowed(w), c.want)
			}
		})
	}
}
