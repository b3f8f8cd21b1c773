package setting

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

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
		"an unknown data engine is refused":    {value: `{"v3":"7"}`, err: "for each data engine"},
		"broken JSON is refused":               {value: `{"v1":`, err: "for each data engine"},
		"more after the JSON is refused":       {value: `{"v1":"7"} {}`, err: "for each data engine"},
		"too large for a number is refused":    {value: "92233720368547758070", err: "whole number of seconds"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ParseGracePeriods(c.value)
			if c.err != "" {
				require.ErrorContains(t, err, c.err)
				return
			}
			require.NoError(t, err)
			require.Equal(t, GracePeriods{V1: c.want, V2: c.want}, got)
		})
	}
	t.Run("one for each data engine; what is not named has the default", func(t *testing.T) {
		got, err := ParseGracePeriods(`{"v2":"7"}`)
		require.NoError(t, err)
		require.Equal(t, GracePeriods{V1: DefaultGracePeriod, V2: 7 * time.Second}, got)
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
	good, bad, grace, badGrace := "instance", "instance;", "7", "soon"
	var m Memory
	require.Equal(t, Values{Items: Items{Instance: true}, GracePeriods: GracePeriods{7 * time.Second, 7 * time.Second}, Known: true},
		m.Read(&good, &grace))
	require.Equal(t, Values{Items: Items{Instance: true}, GracePeriods: GracePeriods{7 * time.Second, 7 * time.Second}, Known: true},
		m.Read(&bad, &badGrace))

	t.Run("after a restart automatic deletion is off", func(t *testing.T) {
		var m Memory
		require.Equal(t, Values{GracePeriods: GracePeriods{DefaultGracePeriod, DefaultGracePeriod}}, m.Read(&bad, &grace))
		require.Equal(t, Values{GracePeriods: GracePeriods{DefaultGracePeriod, DefaultGracePeriod}}, new(Memory).Read(&good, &badGrace))
	})
	t.Run("a setting that does not exist has its default", func(t *testing.T) {
		require.Equal(t, Values{GracePeriods: GracePeriods{DefaultGracePeriod, DefaultGracePeriod}, Known: true},
			new(Memory).Read(nil, nil))
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
		if grace, err := ParseGracePeriods(value); err == nil {
			require.GreaterOrEqual(t, min(grace.V1, grace.V2), time.Duration(0))
		}
	})
}

func TestTheTableOfObeyedSettingsNamesThese(t *testing.T) {
	require.ElementsMatch(t, setting.ObeyedBy(setting.OrphanController), []string{AutoDeletion, GracePeriod, OldAutoDeletion})
}
