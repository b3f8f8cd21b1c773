package command

import (
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit"
)

func (s *scenario) orphanExists(name string) bool {
	s.t.Helper()
	err := testkit.Admin(s.t).Get(s.t.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, &v1beta2.Orphan{})
	require.NoError(s.t, client.IgnoreNotFound(err))
	return !apierrors.IsNotFound(err)
}

// deletedByPolicy deletes an Orphan that has its finalizer, as the policy does whose reason it carries.
func (s *scenario) deletedByPolicy(name string) *v1beta2.Orphan {
	s.t.Helper()
	admin := testkit.Admin(s.t)
	o := &v1beta2.Orphan{}
	o.Namespace, o.Name = s.namespace, name
	require.NoError(s.t, admin.Delete(s.t.Context(), o))
	require.NoError(s.t, admin.Get(s.t.Context(), client.ObjectKeyFromObject(o), o))
	return o
}

// ageless cuts the last column: the API server sets when an object was made.
func ageless(text string) string {
	lines := strings.Split(text, "\n")
	for i := range lines {
		lines[i] = strings.TrimRight(strings.TrimSuffix(lines[i], "just now"), " ")
	}
	return strings.Join(lines, "\n")
}

func TestOrphansAreListedAndExplainedByTheNameOfTheInstance(t *testing.T) {
	s := newScenario(t, "common.yaml", "orphans/objects.yaml").allowed("orphans")
	got := s.run("orphans")
	require.Empty(t, got.err)
	s.golden("orphans/list.txt", ageless(got.out))
	require.Equal(t, "orphan.longhorn.io/orphan-aa04\norphan.longhorn.io/orphan-aa05\n", s.run("orphans", "--node", "node-2", "-o",
		"name").out)
	require.Equal(t, "no orphans\n", s.run("orphans", "--node", "node-3").out)

	for name, file := range map[string]string{"gone-1-r": "explain-deleted.txt", "orphan-aa02": "explain-data.txt",
		"kept-1-r-4": "explain-claimed.txt"} {
		got := s.run("orphans", "explain", name)
		require.Empty(t, got.err)
		s.golden("orphans/"+file, got.out)
	}
	t.Run("a name of two", func(t *testing.T) {
		got := s.run("orphans", "explain", "kept-1-r-2222")
		require.Equal(t, ExitFailed, got.code)
		require.Equal(t, "error: kept-1-r-2222 names 2 orphans: orphan-aa03 (replica kept-1-r-2222 on node node-1), orphan-aa02 "+
			"(replica-instance kept-1-r-2222 on node node-1); name one by its object, or add --node\n", got.err)
	})
	t.Run("as JSON", func(t *testing.T) {
		created := regexp.MustCompile(`"created": "[^"]+"`)
		s.golden("orphans/explain.json", created.ReplaceAllString(s.run("orphans", "explain", "kept-1-r-3333", "-o", "json").out, `"created": "TIME"`))
	})
	t.Run("a name of none", func(t *testing.T) {
		require.Equal(t, "error: no orphan is called other, or begins so; list all with: kubectl drover orphans -n "+s.namespace+"\n",
			s.run("orphans", "explain", "other").err)
	})
	t.Run("completion", func(t *testing.T) {
		require.Equal(t, []string{"kept-1-r-2222", "kept-1-r-3333", "kept-1-r-4444"}, s.completions("orphans", "explain", "kept"))
	})
}

func TestOrphansAreDeletedOnlyWhenAPersonAgreed(t *testing.T) {
	s := newScenario(t, "common.yaml", "orphans/objects.yaml").allowed("orphans delete")

	t.Run("a preview changes nothing", func(t *testing.T) {
		got := s.run("orphans", "delete", "--node", "node-1", "--dry-run")
		require.Empty(t, got.err)
		s.golden("orphans/preview.txt", got.out)
		require.True(t, s.orphanExists("orphan-aa06"))
	})
	t.Run("without a terminal only --yes agrees", func(t *testing.T) {
		got := s.run("orphans", "delete", "gone-1-e-0")
		require.Equal(t, ExitFailed, got.code)
		require.Contains(t, got.err, "stdin is no terminal to ask on: repeat with --yes")
		require.True(t, s.orphanExists("orphan-aa06"))
	})
	t.Run("nothing is selected by nothing", func(t *testing.T) {
		require.Contains(t, s.run("orphans", "delete", "--yes").err, "error: name orphans, or select them with --node or --all-approved")
	})
	t.Run("only a complete name is deleted", func(t *testing.T) {
		for given, want := range map[string]string{"gone-1-e": "no orphan is called gone-1-e; ", "": "the name of the orphan is empty"} {
			require.Contains(t, s.run("orphans", "delete", given, "--yes").err, want)
		}
		require.Contains(t, s.run("orphans", "delete", "--all-approved", "--node", "", "--yes").err, "--node is empty")
		require.True(t, s.orphanExists("orphan-aa06"))
	})
	t.Run("no at a terminal", func(t *testing.T) {
		got := s.answering("no", "orphans", "delete", "gone-1-e-0")
		require.Equal(t, ExitFailed, got.code)
		require.Contains(t, got.err, "Delete 1 orphan? [y/N] no\nerror: not confirmed: nothing was changed\n")
		require.True(t, s.orphanExists("orphan-aa06"))
	})
	t.Run("yes at a terminal", func(t *testing.T) {
		got := s.answering("yes", "orphans", "delete", "gone-1-e-0")
		require.Equal(t, ExitWell, got.code, got.err)
		require.Equal(t, "orphan.longhorn.io/orphan-aa06 deleted\n", got.out)
		require.False(t, s.orphanExists("orphan-aa06"))
	})
	t.Run("data needs its own flag", func(t *testing.T) {
		require.Empty(t, s.run("orphans", "delete", "--all-approved", "--yes", "-o", "name").out)
		require.True(t, s.orphanExists("orphan-aa01"))
		require.Equal(t, "orphan.longhorn.io/orphan-aa01\n", s.run("orphans", "delete", "--all-approved", "--include-data", "--yes", "-o",
			"name").out)
		require.False(t, s.orphanExists("orphan-aa01"))
	})
	t.Run("what may be the last copy needs its name", func(t *testing.T) {
		s.run("orphans", "delete", "--node", "node-1", "--include-data", "--yes")
		require.True(t, s.orphanExists("orphan-aa02"))
		require.Empty(t, s.run("orphans", "delete", "orphan-aa02", "--yes", "-o", "json").code)
		require.False(t, s.orphanExists("orphan-aa02"))
	})
}

// What a policy deleted cannot be deleted again.
func TestAPersonWhoNamesItReleasesAnOrphanThatPolicyDeletedAndHolds(t *testing.T) {
	s := newScenario(t, "common.yaml", "orphans/held.yaml").allowed("orphans delete")
	o := s.deletedByPolicy("orphan-bb01")
	released := func() bool {
		now := &v1beta2.Orphan{}
		require.NoError(t, testkit.Admin(t).Get(t.Context(), client.ObjectKeyFromObject(o), now))
		return v1beta2.DeletedByHand(now)
	}
	got := s.run("orphans", "delete", "--node", "node-1", "--include-data", "--yes")
	require.Contains(t, got.out, "It is deleted already.", got.err)
	got = s.run("orphans", "delete", "held-1-r-1111", "--dry-run")
	require.Contains(t, got.out, "Destroys the replica's data on node node-1.", got.err)
	require.False(t, released())
	got = s.run("orphans", "delete", "held-1-r-1111", "--yes")
	require.Equal(t, ExitWell, got.code, got.err)
	require.True(t, released())
	require.Contains(t, s.run("orphans", "delete", "held-1-r-1111", "--yes").out, "It is deleted already.")
}
