//go:build !fast

package failures

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/upgrade/fixture"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// U7: of two upgrades that are created at once one waits, and reports for which; it continues by itself.
func TestOfTwoUpgradesAtOnceOneWaits(t *testing.T) {
	s := fixture.Begin(t)
	s.Volume("two", near)
	s.StartChecker()
	s.Ordered("first", fixture.Image("two"), near)
	s.Ordered("second", fixture.Image("two"), near, far)
	require.NoError(t, s.Wait(s.Ctx, "the second upgrade to wait", fixture.Patience, func(ctx context.Context) (string, error) {
		m := &v1beta2.DataEngineUpgradeManager{}
		if err := s.Get(ctx, "second", m); err != nil {
			return "", err
		}
		condition := conditions.Get(m.Status.Conditions, v1beta2.UpgradeProgressing)
		if condition != nil && condition.Reason == v1beta2.ReasonWaitingForUpgrade &&
			strings.Contains(condition.Message, "DataEngineUpgradeManager first is earlier") {
			return "", nil
		}
		return "it reports " + world.FormatConditions(m.Status.Conditions), nil
	}))
	require.Equal(t, v1beta2.UpgradeStateUndefined, s.Reaches("second", v1beta2.UpgradeStateUndefined).Status.State,
		"nothing of it has begun")
	s.Reaches("first", v1beta2.UpgradeStateCompleted)
	m := s.Reaches("second", v1beta2.UpgradeStateCompleted)
	require.Equal(t, []string{near, far}, m.Status.UpgradedNodes)
	s.Done()
}

// shown are the different lines that kubectl printed, by state, from the creation to the end.
func shown(s *fixture.Scenario, upgrade string) (whole, nodes [][]string) {
	s.T.Helper()
	collect := func(into *[][]string, table string) {
		for _, line := range strings.Split(strings.TrimSpace(table), "\n")[1:] {
			cells := strings.Fields(line)
			if !strings.HasPrefix(line, upgrade) {
				continue
			}
			if !slices.ContainsFunc(*into, func(other []string) bool { return slices.Equal(other, cells) }) {
				*into = append(*into, cells)
			}
		}
	}
	require.NoError(s.T, s.Wait(s.Ctx, "the end of "+upgrade, 3*fixture.Patience, func(ctx context.Context) (string, error) {
		m := &v1beta2.DataEngineUpgradeManager{}
		if err := s.Get(ctx, upgrade, m); err != nil {
			return "", err
		}
		table, err := s.Table(ctx, "dataengineupgrademanagers")
		if err != nil {
			return "", err
		}
		collect(&whole, table)
		if table, err = s.Table(ctx, "nodedataengineupgrades"); err != nil {
			return "", err
		}
		collect(&nodes, table)
		if m.Status.State == v1beta2.UpgradeStateCompleted {
			return "", nil
		}
		return "it is " + m.Status.State, nil
	}))
	return whole, nodes
}

// U9: what the columns show while an upgrade is in progress: node, step, volume, progress, since when and why it waits. Copies
// are slow enough to be seen.
func TestKubectlShowsTheProgressOfAnUpgradeAndWhyItWaits(t *testing.T) {
	s := fixture.Begin(t)
	s.Volume("seen", near)
	s.StartChecker()
	require.NoError(t, s.HoldCopies(s.Ctx, "seen"))
	s.Ordered("watched", fixture.Image("watched"), near)
	s.Node("watched", near, v1beta2.UpgradeStateRebuildingReplica)
	require.NoError(t, s.WaitNodeUpgrade(s.Ctx, "watched", near, "to wait for the rebuild", fixture.Patience,
		func(u *v1beta2.NodeDataEngineUpgrade) string {
			if u.Status.Volume == "seen" {
				return ""
			}
			return "it waits for " + u.Status.Volume
		}))
	table, err := s.Table(s.Ctx, "nodedataengineupgrades")
	require.NoError(t, err)
	header, line := columns(t, table, "watched-"+near)
	// Two of the three replicas are healthy, the rebuild of the third has not begun.
	for column, want := range map[string]string{
		"NODE": near, "STATE": "rebuilding-replica", "VOLUME": "seen", "PROGRESS": "0/1 66%", "WHY": v1beta2.ReasonWaitingForRebuild,
		"STALLED": "False",
	} {
		require.Equal(t, want, header(line, column), "%s of\n%s", column, table)
	}
	require.NotContains(t, []string{"", "<none>"}, header(line, "SINCE"))
	require.NoError(t, s.Wait(s.Ctx, "the whole upgrade to show it", fixture.Patience, func(ctx context.Context) (string, error) {
		table, err = s.Table(ctx, "dataengineupgrademanagers")
		header, line = columns(t, table, "watched")
		if err == nil && header(line, "STEP") == "rebuilding-replica" {
			return "", nil
		}
		return table, err
	}))
	for column, want := range map[string]string{"STATE": "upgrading", "PROGRESS": "0/1", "NODE": near, "PREFLIGHT": "Passed",
		"WHY": v1beta2.ReasonUpgradingNode} {
		require.Equal(t, want, header(line, column), "%s of\n%s", column, table)
	}
	require.NoError(t, s.ReleaseCopies(s.Ctx, "seen", 0))
	whole, nodes := shown(s, "watched")
	t.Logf("%v\n%v", whole, nodes)
	require.Contains(t, strings.Join(whole[len(whole)-1], " "), "completed 1/1")
	require.Contains(t, strings.Join(nodes[len(nodes)-1], " "), "completed")
	s.Done()
}

// rows are the lines of a table about an object.
func rows(table, name string) (out []string) {
	for line := range strings.Lines(table) {
		if strings.HasPrefix(line, name+" ") {
			out = append(out, line)
		}
	}
	return out
}

// columns finds a line of a table, and reads its cells by the names of their columns.
func columns(t *testing.T, table, name string) (cell func(line, column string) string, line string) {
	t.Helper()
	lines := strings.Split(table, "\n")
	for _, l := range lines {
		if strings.HasPrefix(l, name+" ") {
			line = l
		}
	}
	require.NotEmpty(t, line, "%s is not in\n%s", name, table)
	return func(line, column string) string {
		from := strings.Index(lines[0], column)
		require.GreaterOrEqual(t, from, 0, "%s is not in %s", column, lines[0])
		to := len(line)
		if next := strings.Index(lines[0][from:], "   "); next >= 0 {
			rest := lines[0][from+next:]
			if gap := len(rest) - len(strings.TrimLeft(rest, " ")); gap < len(rest) {
				to = min(to, from+next+gap)
			}
		}
		return strings.TrimSpace(line[min(from, len(line)):to])
	}, line
}
