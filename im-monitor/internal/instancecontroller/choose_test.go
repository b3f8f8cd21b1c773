package instancecontroller

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

func TestWhichInstanceManagerOfANodeTakesANewInstance(t *testing.T) {
	const wanted, older = "wanted", "older"
	im := func(name, image, state string) *v1beta2.InstanceManager {
		out := &v1beta2.InstanceManager{Spec: v1beta2.InstanceManagerSpec{Image: image}, Status: v1beta2.InstanceManagerStatus{CurrentState: state}}
		out.Name = name
		return out
	}
	const up, starting = v1beta2.InstanceManagerStateRunning, v1beta2.InstanceManagerStateStarting
	for name, c := range map[string]struct {
		image string
		of    []*v1beta2.InstanceManager
		want  string
		says  string
	}{
		"v1: the default image's":                               {wanted, []*v1beta2.InstanceManager{im("a", older, up), im("b", wanted, up)}, "b", ""},
		"v1: one that runs, while the default image's does not": {wanted, []*v1beta2.InstanceManager{im("a", older, up), im("b", wanted, starting)}, "a", ""},
		"v1: one that runs, while the default image has none":   {wanted, []*v1beta2.InstanceManager{im("c", older, up), im("a", "oldest", up)}, "a", ""},
		"v1: the default image's is waited for where none runs": {wanted, []*v1beta2.InstanceManager{im("a", older, starting), im("b", wanted, starting)}, "b", ""},
		"v1: without a default image the only one":              {"", []*v1beta2.InstanceManager{im("a", older, starting)}, "a", ""},
		"v2: the only one":                                      {"", []*v1beta2.InstanceManager{im("a", older, starting)}, "a", ""},
		"v2: the one that runs":                                 {"", []*v1beta2.InstanceManager{im("a", older, up), im("b", wanted, starting)}, "a", ""},
		"v2: two that run are one too many":                     {"", []*v1beta2.InstanceManager{im("a", older, up), im("b", wanted, up)}, "", "two"},
		"none":                                                  {wanted, nil, "", "no %s instance manager that runs"},
	} {
		t.Run(name, func(t *testing.T) {
			got, problem := choose(c.of, c.image)
			if c.want == "" {
				require.Nil(t, got)
				require.Contains(t, problem, c.says)
				return
			}
			require.Equal(t, c.want, got.Name)
			require.Empty(t, problem)
		})
	}
}
