package recurringlabel

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

const (
	daily  = v1beta2.LabelRecurringJobPrefix + "daily"
	dayly  = v1beta2.LabelRecurringJobPrefix + "dayly"
	gold   = v1beta2.LabelRecurringGroupPrefix + "gold"
	silver = v1beta2.LabelRecurringGroupPrefix + "silver"
	usual  = v1beta2.LabelRecurringGroupPrefix + v1beta2.RecurringGroupDefault
	source = v1beta2.LabelRecurringSource
)

func jobs() Jobs {
	going := v1beta2.RecurringJob{ObjectMeta: metav1.ObjectMeta{Name: "dayly", DeletionTimestamp: &metav1.Time{}}}
	return JobsOf([]v1beta2.RecurringJob{going, {ObjectMeta: metav1.ObjectMeta{Name: "daily"},
		Spec: v1beta2.RecurringJobSpec{Groups: []string{"gold"}}}})
}

func TestWhichLabelsHaveNoEffect(t *testing.T) {
	for sentence, c := range map[string]struct {
		labels   map[string]string
		want     []string
		contains string
	}{
		"none":                        {nil, nil, ""},
		"other labels":                {map[string]string{"app": "shop", "longhornvolume": "v"}, nil, ""},
		"what exists":                 {map[string]string{daily: "enabled", gold: "enabled"}, nil, ""},
		"a job that does not exist":   {map[string]string{dayly: "enabled"}, []string{JobMissing}, "create it, or remove the label"},
		"a group that no job has":     {map[string]string{silver: "enabled"}, []string{GroupMissing}, "add it to the groups"},
		"Longhorn labels all so":      {map[string]string{usual: "enabled"}, nil, ""},
		"a value that does not count": {map[string]string{daily: "true"}, []string{NotEnabled}, "the jobs of the group default are for"},
		"beside one that does":        {map[string]string{daily: "true", gold: "enabled"}, []string{NotEnabled}, "or remove it."},
		"all at once, by their names": {map[string]string{silver: "enabled", dayly: "enabled", daily: ""},
			[]string{GroupMissing, NotEnabled, JobMissing}, ""},
		"a source is no volume's label": {map[string]string{source: "true"}, nil, ""},
	} {
		t.Run(sentence, func(t *testing.T) {
			var got []string
			for _, p := range OfVolume(c.labels, jobs()) {
				got = append(got, p.Reason)
				require.Contains(t, p.Message, p.Label)
				require.Contains(t, p.Message, c.contains)
			}
			require.Equal(t, c.want, got)
		})
	}
	require.NotContains(t, OfVolume(map[string]string{daily: "true", gold: "enabled"}, jobs())[0].Message, "default")
}

func TestWhichLabelsOfAClaimHaveNoEffect(t *testing.T) {
	for sentence, c := range map[string]struct {
		labels map[string]string
		want   []Problem
	}{
		"those of one that is not the source": {map[string]string{dayly: "enabled"}, nil},
		"those of the source": {map[string]string{source: "enabled", dayly: "enabled"},
			OfVolume(map[string]string{dayly: "enabled"}, jobs())},
		"a source alone":             {map[string]string{source: "enabled"}, nil},
		"the value that makes it so": {map[string]string{source: "true", dayly: "enabled"}, []Problem{{source, NotEnabled, ""}}},
	} {
		t.Run(sentence, func(t *testing.T) {
			got := OfClaim(c.labels, jobs())
			for i := range got {
				if c.want[i].Message == "" {
					require.Contains(t, got[i].Message, "the Volume's own labels name its jobs")
					got[i].Message = ""
				}
			}
			require.Equal(t, c.want, got)
		})
	}
}

func TestAMessageNamesTheLabelItsValueAndTheNextStep(t *testing.T) {
	const meanwhile = " Meanwhile the jobs of the group default are for the volume, as no label names others."
	for _, c := range []struct {
		labels map[string]string
		want   string
	}{
		{map[string]string{dayly: "enabled"},
			"The label " + dayly + " names a RecurringJob that does not exist: create it, or remove the label."},
		{map[string]string{silver: "enabled"},
			"The label " + silver + " names a group that no RecurringJob has: add it to the groups of one, or remove the label."},
		{map[string]string{dayly: "Enabled"},
			"The label " + dayly + ` has the value "Enabled" and does not count. Set it to enabled, or remove it.` + meanwhile},
		{map[string]string{silver: ""},
			"The label " + silver + ` has the value "" and does not count. Set it to enabled, or remove it.` + meanwhile},
		{map[string]string{daily: "no", "app": "enabled", source: "enabled"},
			"The label " + daily + ` has the value "no" and does not count. Set it to enabled, or remove it.` + meanwhile},
	} {
		got := OfVolume(c.labels, jobs())
		require.Len(t, got, 1)
		require.Equal(t, c.want, got[0].Message)
		require.Contains(t, c.labels, got[0].Label)
	}
	require.Equal(t, []Problem{{source, NotEnabled, "The label " + source + ` has the value "" and does not count: the Volume's own labels ` +
		"name its jobs. Set it to enabled, or remove it."}}, OfClaim(map[string]string{source: ""}, jobs()))
}

// A label that counts, and names what does not exist, is still one that names others: the jobs of the default group do not run meanwhile.
func TestALabelThatCountsKeepsTheDefaultGroupAwayAlsoWhereItNamesNothing(t *testing.T) {
	got := OfVolume(map[string]string{daily: "true", dayly: "enabled"}, jobs())
	require.Equal(t, []string{NotEnabled, JobMissing}, []string{got[0].Reason, got[1].Reason})
	require.NotContains(t, got[0].Message, "Meanwhile")
}

func TestTheLabelsOfASourceAreThoseOfItsVolume(t *testing.T) {
	require.Empty(t, OfClaim(map[string]string{source: "enabled", daily: "enabled", gold: "enabled", usual: "enabled"}, jobs()))
	missing := OfClaim(map[string]string{source: "enabled", daily: "enabled", gold: "enabled"}, Jobs{})
	require.Len(t, missing, 2, "without jobs no label has an effect")
	require.Empty(t, OfClaim(nil, Jobs{}))
	require.Equal(t, Jobs{Names: map[string]bool{}, Groups: map[string]bool{}}, JobsOf(nil))
}
