package setting

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/setting"
)

func TestParseItems(t *testing.T) {
	for name, c := range map[string]struct {
		value string
		want  Items
		err   string
	}{
		"empty disables everything": {value: ""},
		"blanks alone are empty":    {value: "  "},
		"one item":                  {value: "instance", want: Items{Instance: true}},
		"blanks around items and any order are allowed": {value: " replica-data ; instance ",
			want: Items{ReplicaData: true, Instance: true}},
		"an item written twice is still one":    {value: "instance;instance", want: Items{Instance: true}},
		"a trailing semicolon is an empty item": {value: "instance;", err: "empty item"},
		"a leading semicolon is an empty item":  {value: ";instance", err: "empty item"},
		"a semicolon alone is refused":          {value: ";", err: "empty item"},
		"an unknown item is named together with the good": {value: "instance;engines",
			err: `unknown item "engines": the items are replica-data and instance`},
		"items are case sensitive":             {value: "Instance", err: "unknown item"},
		"a comma does not separate":            {value: "instance,replica-data", err: "unknown item"},
		"an over-long value is refused unread": {value: strings.Repeat("instance;", 200) + "instance", err: "characters"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ParseItems(c.value)
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				require.Zero(t, got, "a refused value enables nothing")
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
}

func TestParseGracePeriod(t *testing.T) {
	for name, c := range map[string]struct {
		value string
		want  time.Duration
		err   string
	}{
		"empty means the default":              {value: "", want: 300 * time.Second},
		"zero means at once":                   {value: "0", want: 0},
		"seconds":                              {value: "17", want: 17 * time.Second},
		"blanks around the number are allowed": {value: " 17 ", want: 17 * time.Second},
		"negative is refused":                  {value: "-1", err: "out of range"},
		"a unit is refused":                    {value: "5m", err: "whole number of seconds"},
		"a fraction is refused":                {value: "1.5", err: "whole number of seconds"},
		"too large for a duration is refused":  {value: "9223372036854775807", err: "out of range"},
		"an unknown data engine is refused":    {value: `{"v3":"7"}`, err: "unknown data engine"},
		"broken JSON is refused":               {value: `{"v1":`, err: "not of the form"},
		"more after the JSON is refused":       {value: `{"v1":"7"} {}`, err: "not of the form"},
		"too large for a number is refused":    {value: "92233720368547758070", err: "whole number of seconds"},
	} {
		t.Run(name, func(t *testing.T) {
			err := Catalogue.Check(GracePeriod, c.value)
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				return
			}
			require.NoError(t, err)
			for _, engine := range []string{v1beta2.DataEngineV1, v1beta2.DataEngineV2} {
				require.Equal(t, c.want, Remember().Read(nil, &c.value, engine).GracePeriod)
			}
		})
	}
	t.Run("one for each data engine; what is not named has the default", func(t *testing.T) {
		each := `{"v2":"7"}`
		require.Equal(t, DefaultGracePeriod, Remember().Read(nil, &each, v1beta2.DataEngineV1).GracePeriod)
		require.Equal(t, 7*time.Second, Remember().Read(nil, &each, v1beta2.DataEngineV2).GracePeriod)
	})
}

func TestMerge(t *testing.T) {
	value := func(s string) *string { return &s }
	for name, c := range map[string]struct {
		old     string
		present *string
		want    string
		changed bool
		err     string
	}{
		"true without a new setting becomes replica-data": {old: "true", want: "replica-data", changed: true},
		"true is merged in front of instance": {old: "true", present: value("instance"),
			want: "replica-data;instance", changed: true},
		"true is already in the new setting": {old: "true", present: value("instance;replica-data"),
			want: "instance;replica-data"},
		"false leaves the new setting alone": {old: "false", present: value("instance"), want: "instance"},
		"false does not take replica-data away": {old: "false", present: value("replica-data"),
			want: "replica-data"},
		"false without a new setting makes none": {old: "false"},
		"on for one data engine is on": {old: `{"v1":"true","v2":"false"}`, want: "replica-data",
			changed: true},
		"an unreadable switch is left for a person":                     {old: "yes please", err: "neither true nor false"},
		"an unreadable new value is never overwritten by the migration": {old: "true", present: value("engines"), err: "waits for"},
	} {
		t.Run(name, func(t *testing.T) {
			got, changed, err := Merge(c.old, c.present)
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, got)
			require.Equal(t, c.changed, changed)
			again, changedAgain, err := Merge(c.old, &got)
			require.NoError(t, err)
			require.Equal(t, got, again, "run twice it returns the same")
			require.False(t, changedAgain)
		})
	}
}

func TestTheRunningProcessKeepsItsLastGoodValue(t *testing.T) {
	const engine = v1beta2.DataEngineV1
	good, bad, grace, badGrace := "instance", "instance;", "7", "soon"
	m := Remember()
	want := Values{Items: Items{Instance: true}, GracePeriod: 7 * time.Second, Known: true}
	require.Equal(t, want, m.Read(&good, &grace, engine))
	require.Equal(t, want, m.Read(&bad, &badGrace, engine))

	off := Values{GracePeriod: DefaultGracePeriod}
	t.Run("after a restart automatic deletion is off", func(t *testing.T) {
		require.Equal(t, off, Remember().Read(&bad, &grace, engine))
		require.Equal(t, off, Remember().Read(&good, &badGrace, engine))
	})
	t.Run("until the value is corrected", func(t *testing.T) {
		m := Remember()
		require.Equal(t, off, m.Read(&bad, &grace, engine))
		require.Equal(t, want, m.Read(&good, &grace, engine))
	})
	t.Run("a setting that does not exist has its default", func(t *testing.T) {
		require.Equal(t, Values{GracePeriod: DefaultGracePeriod, Known: true}, Remember().Read(nil, nil, engine))
	})
}

func TestAnyValueIsReadOrRefused(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.String().Draw(t, "value")
		items, err := ParseItems(value)
		if err != nil {
			require.Zero(t, items)
		} else {
			again, err := ParseItems(items.String())
			require.NoError(t, err)
			require.Equal(t, items, again)
		}
		for _, engine := range []string{v1beta2.DataEngineV1, v1beta2.DataEngineV2} {
			v := Remember().Read(nil, &value, engine)
			require.GreaterOrEqual(t, v.GracePeriod, time.Duration(0))
			require.Equal(t, Catalogue.Check(GracePeriod, value) == nil, v.Known)
		}
	})
}

func TestTheTableOfObeyedSettingsNamesThese(t *testing.T) {
	require.ElementsMatch(t, setting.ObeyedBy(setting.OrphanController), append(Catalogue.Names(), OldAutoDeletion))
}

// A message shows the beginning of a long value, whole characters only, and a short one as it is.
func TestAMessageShowsTheBeginningOfALongValue(t *testing.T) {
	forty := strings.Repeat("x", 40)
	for value, shown := range map[string]string{
		"yes": "yes", forty: forty, forty + "y": forty + "...", strings.Repeat("x", 39) + "é": strings.Repeat("x", 39) + "...",
	} {
		_, changed, err := Merge(value, nil)
		require.EqualError(t, err, `orphan-auto-deletion is "`+shown+`", neither true nor false: correct it, or delete the setting`)
		require.False(t, changed)
	}
}

func TestASwitchThatCannotBeReadLeavesTheNewSetting(t *testing.T) {
	present := "instance"
	for _, old := range []string{`{"v1":`, `{"v3":"true"}`, `{"v1":true}`, `{"v1":"true","v2":"maybe"}`} {
		got, changed, err := Merge(old, &present)
		require.ErrorContains(t, err, OldAutoDeletion, old)
		require.Empty(t, got, old)
		require.False(t, changed, old)
	}
}

func TestTheLongestValueThatIsReadHas256Characters(t *testing.T) {
	longest := "instance" + strings.Repeat(" ", 256-len("instance"))
	items, err := ParseItems(longest)
	require.NoError(t, err)
	require.Equal(t, Items{Instance: true}, items)
	_, err = ParseItems(longest + " ")
	require.EqualError(t, err, "the value has 257 characters, at most 256 are read: list each of replica-data and instance once")
}
