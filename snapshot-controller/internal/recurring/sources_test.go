package recurring

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"drover.dev/drover/shared/api/v1beta2"
)

// Which jobs a volume has, of its own labels and those of the claim that is their source.
func TestLabelsOfAClaimCountInThePlaceOfTheVolumes(t *testing.T) {
	hourly, gold := v1beta2.LabelRecurringJobPrefix+"hourly", v1beta2.LabelRecurringGroupPrefix+"gold"
	for _, c := range []struct {
		what   string
		own    []string
		source map[string]string
		none   bool // the claim is no source
		groups []string
		is     bool
	}{
		{what: "the volume names it, its claim is no source", own: []string{hourly}, none: true, is: true},
		{what: "its claim names it", source: map[string]string{hourly: "enabled"}, is: true},
		{what: "its claim names its group", source: map[string]string{gold: "enabled"}, groups: []string{"gold"}, is: true},
		{what: "its claim names another", own: []string{hourly}, source: map[string]string{gold: "enabled"}},
		{what: "its claim names none", own: []string{hourly}},
		{what: "its claim names none, and the job is for those", own: []string{gold}, groups: []string{"default"}, is: true},
		{what: "neither names any", none: true, groups: []string{"default"}, is: true},
		{what: "its claim takes the label back by its value", own: []string{hourly}, source: map[string]string{hourly: "disabled"}},
	} {
		t.Run(c.what, func(t *testing.T) {
			w := world()
			w.Job.Spec.Groups = c.groups
			w.Volumes = []*v1beta2.Volume{volume("vol-1", c.own...)}
			if !c.none {
				w.Sources = Sources{"vol-1": LabelsOfClaim(c.source)}
			}
			v := Decide(w)
			w.done(v)
			require.Equal(t, c.is, len(Decide(w).Create) == 1)
		})
	}
}

// That a claim is the source names no job, not even one of that name.
func TestWhatAClaimsLabelsName(t *testing.T) {
	require.Equal(t, map[string]string{v1beta2.LabelRecurringJobPrefix + "hourly": "enabled", v1beta2.LabelRecurringGroupPrefix +
		"gold": "enabled"},
		LabelsOfClaim(map[string]string{
			v1beta2.LabelRecurringSource: "enabled", v1beta2.LabelRecurringJobPrefix + "hourly": "enabled",
			v1beta2.LabelRecurringGroupPrefix + "gold": "enabled",
			v1beta2.LabelRecurringJobPrefix + "daily":  "disabled", "app": "enabled",
		}))
}

// What is kept of a claim names the same jobs as all its labels, however often it is thinned.
func TestWhatIsKeptOfAClaimNamesTheSameJobs(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		labels := rapid.MapOf(
			rapid.SampledFrom([]string{v1beta2.LabelRecurringJobPrefix + "a", v1beta2.LabelRecurringGroupPrefix + "b", "app",
				v1beta2.LabelRecurringGroupPrefix + "default"}),
			rapid.SampledFrom([]string{"enabled", "disabled", ""}),
		).Draw(t, "labels")
		kept := LabelsOfClaim(labels)
		require.Equal(t, KeysOfVolume(labels), KeysOfVolume(kept))
		require.Equal(t, kept, LabelsOfClaim(kept))
	})
}
