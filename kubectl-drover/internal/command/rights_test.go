package command

import (
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"

	"drover.dev/drover/kubectl-drover/internal/cluster"
	"drover.dev/drover/shared/testkit"
)

// lines are command lines that together use every right of a command, by its name. A new command needs one.
var lines = map[string][][]string{
	"status": {{"status"}},
	"doctor": {{"doctor"}},
	"why":    {{"why", "vol-pod"}},
	"tree":   {{"tree", "vol-pod"}, {"tree", "node/node-1"}},
	"attach": {{"attach", "vol-pod", "--node", "node-1", "--wait"}},
	"detach": {{"detach", "vol-pod", "--wait"}},

	"orphans":         {{"orphans"}},
	"orphans explain": {{"orphans", "explain", "gone-1-r-1111"}},
	"orphans delete": {{"orphans", "delete", "gone-1-r-1111", "--yes", "--dry-run"}, {"orphans", "delete", "gone-1-r-1111", "--yes"},
		{"orphans", "delete", "held-1-r-1111", "--yes"}},

	"orphans accept": {{"orphans", "accept", "gone-1-e-0", "--yes", "--dry-run"}, {"orphans", "accept", "gone-1-e-0", "--yes"}},

	"snapshots":       {{"snapshots", "snapped"}},
	"snapshots prune": {{"snapshots", "prune", "snapped", "--keep", "1", "--yes"}},

	"report": {{"report"}},

	"upgrade plan":   {{"upgrade", "plan"}},
	"upgrade watch":  {{"upgrade", "watch", "--timeout", "1s"}},
	"upgrade pause":  {{"upgrade", "pause", "upgrade-1"}},
	"upgrade resume": {{"upgrade", "resume", "upgrade-1"}},
	"upgrade abort":  {{"upgrade", "abort", "upgrade-1", "--yes"}},
}

// People copy the rights of a page into a Role. One that lacks a right fails; one with a right too much is an invitation.
func TestEachCommandUsesExactlyTheRightsOfItsPage(t *testing.T) {
	s := newScenario(t, "common.yaml", "controllers.yaml", "pod/objects.yaml", "orphans/objects.yaml", "orphans/held.yaml",
		"upgrade/running.yaml", "snapshots/objects.yaml", "report/objects.yaml")
	t.Chdir(t.TempDir()) // report writes a file
	s.answersTickets("vol-pod")
	s.deletedByPolicy("orphan-bb01")
	each(NewFrame(discarded()).Commands(), "", func(path string, command Command) {
		if len(command.Rights) == 0 { // it only has commands below it
			return
		}
		t.Run(path, func(t *testing.T) {
			require.Contains(t, lines, path, "name a command line that uses its rights")
			account := "page-" + strings.ReplaceAll(path, " ", "-")
			s.as(t, account, command.Rights)
			for _, line := range lines[path] {
				got := s.run(line...)
				require.NotContains(t, strings.ToLower(got.out+got.err), "is forbidden", "%v", line)
				if !slices.Contains(line, "--timeout") {
					require.NotContains(t, got.err, "error: ", "%v", line)
					require.NotEqual(t, ExitFailed, got.code, "%v", line)
				}
			}
			s.runBare(lines[path][0]...) // searches for the namespace
			rules := slices.Concat(rulesOf(command.Rights, false), rulesOf(command.Rights, true))
			require.EventuallyWithT(t, func(c *assert.CollectT) { // the audit log trails the answers
				requests, err := testkit.Cluster().AuditedRequests()
				require.NoError(c, err)
				require.Equal(c, testkit.Granted(rules), testkit.Used(requests, account), "rights (expected) and requests (actual)")
			}, time.Minute, 10*time.Millisecond)
		})
	})
}

// The roles of the page are enough for the commands that they are for.
func TestTheRolesOfThePageHaveWhatReadingCommandsUse(t *testing.T) {
	commands := NewFrame(discarded()).Commands()
	has := func(role rbacv1.ClusterRole, right cluster.Right) bool {
		return slices.ContainsFunc(role.Rules, func(rule rbacv1.PolicyRule) bool {
			return slices.Contains(rule.APIGroups, right.Group) && slices.Contains(rule.Resources, right.Resource) &&
				slices.Contains(rule.Verbs, right.Verb)
		})
	}
	reader, reporter := roles(commands)[0], roles(commands)[1]
	each(commands, "", func(path string, command Command) {
		role := reader
		if path == "report" {
			role = reporter
		}
		for _, right := range command.Rights {
			require.Equal(t, slices.Contains(readVerbs, right.Verb), has(role, right), "%s: %v", path, right)
		}
	})
	require.False(t, has(reader, cluster.ReadLogs))
}

// Without the optional rights a command shows what it may, and names the rest.
func TestACommandNamesWhatItMayNotSee(t *testing.T) {
	s := newScenario(t, "common.yaml", "controllers.yaml", "outage/objects.yaml")
	for _, command := range NewFrame(discarded()).Commands() {
		t.Run(command.Name(), func(t *testing.T) {
			if command.Name() == "report" { // it names that in its zip, and on stderr
				return
			}
			optional := func(right cluster.Right) bool { return right.Without != "" }
			if !slices.ContainsFunc(command.Rights, func(right cluster.Right) bool { return optional(right) && right != findRead.Right }) {
				return
			}
			s.as(t, "bare-"+command.Name(), slices.DeleteFunc(slices.Clone(command.Rights), optional))
			line := slices.DeleteFunc(slices.Clone(lines[command.Name()][0]), func(word string) bool { return word == "--wait" })
			if len(line) > 1 {
				line[1] = "vol-faulted"
			}
			got := s.run(line...)
			require.Empty(t, got.err)
			require.Contains(t, got.out, "forbidden")
			require.Contains(t, got.out, "kubectl auth can-i list")
		})
	}
}

// What is not allowed is an error that names the right and how to check it.
func TestACommandThatMayNothingNamesTheRight(t *testing.T) {
	s := newScenario(t)
	s.as(t, "nothing", nil)
	got := s.run("why", "vol-1")
	require.Equal(t, ExitFailed, got.code)
	require.Regexp(t, `^error: cannot list \w+\.longhorn\.io: .* is forbidden: .*; check with: kubectl auth can-i list \w+\.longhorn\.io -n `+
		s.namespace+"\n$", got.err)
}

// as makes the scenario's kubeconfig that of a ServiceAccount with exactly these rights.
func (s *scenario) as(t *testing.T, account string, rights []cluster.Right) {
	t.Helper()
	access := testkit.Identity(t, s.namespace, account, rulesOf(rights, false))
	if everywhere := rulesOf(rights, true); len(everywhere) > 0 {
		testkit.GrantCluster(t, s.namespace, account, everywhere)
	}
	s.kubeconfig = filepath.Join(t.TempDir(), "kubeconfig")
	require.NoError(t, testkit.Cluster().TokenKubeconfig(s.kubeconfig, access.BearerToken))
}

// rulesOf returns a rule for each of the rights everywhere, or of the others.
func rulesOf(rights []cluster.Right, everywhere bool) []rbacv1.PolicyRule {
	var rules []rbacv1.PolicyRule
	for _, right := range rights {
		if right.Everywhere == everywhere {
			rules = append(rules, rbacv1.PolicyRule{APIGroups: []string{right.Group}, Resources: []string{right.Resource},
				Verbs: []string{right.Verb}})
		}
	}
	return rules
}
