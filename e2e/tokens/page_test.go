package main

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	authorizationv1 "k8s.io/api/authorization/v1"

	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/cluster"
)

func TestMain(m *testing.M) { testkit.Main(m) }

func tokensAndPage(t *testing.T) ([]token, string) {
	t.Helper()
	root, err := cluster.ModuleRoot()
	require.NoError(t, err)
	tokens, err := read(root)
	require.NoError(t, err)
	text, err := page(tokens)
	require.NoError(t, err)
	return tokens, text
}

// The page's rights of a binary are exactly what a real API server grants to its token.
func TestThePageListsWhatTheAPIServerGrants(t *testing.T) {
	_, text := tokensAndPage(t)
	for _, binary := range binaries {
		t.Run(binary, func(t *testing.T) {
			namespace, elsewhere := testkit.Namespace(t), testkit.Namespace(t)
			unprivileged := testkit.Identity(t, namespace, "unprivileged", nil)
			access := testkit.BinaryIdentity(t, namespace, binary)
			granted := func(where string) []right {
				c, anybody := testkit.Client(t, access), testkit.Client(t, unprivileged)
				mine, theirs := &authorizationv1.SelfSubjectRulesReview{}, &authorizationv1.SelfSubjectRulesReview{}
				mine.Spec.Namespace, theirs.Spec.Namespace = where, where
				require.NoError(t, c.Create(t.Context(), mine))
				require.NoError(t, anybody.Create(t.Context(), theirs))
				require.False(t, mine.Status.Incomplete)
				common := rightsIn(theirs)
				return sorted(slices.DeleteFunc(rightsIn(mine), func(r right) bool { return slices.Contains(common, r) }))
			}
			everywhere := granted(elsewhere)
			here := slices.DeleteFunc(granted(namespace), func(r right) bool { return slices.Contains(everywhere, r) })
			for i := range everywhere {
				everywhere[i].everywhere = true
			}
			require.Equal(t, sorted(append(here, everywhere...)), tableOf(t, text, binary),
				"the API server grants (expected), the page lists (actual)")
		})
	}
}

// rightsIn lists the rights in a review.
func rightsIn(review *authorizationv1.SelfSubjectRulesReview) []right {
	var out []right
	for _, rule := range review.Status.ResourceRules {
		out = append(out, rightsOf(rule.APIGroups, rule.Resources, rule.ResourceNames, rule.Verbs, false)...)
	}
	return out
}

// tableOf reads the table of a binary back.
func tableOf(t *testing.T, text, binary string) []right {
	t.Helper()
	_, section, found := strings.Cut(text, "\n## "+binary+"\n")
	require.True(t, found)
	section, _, _ = strings.Cut(section, "\n## ")
	var out []right
	for line := range strings.Lines(section) {
		cells := strings.Split(strings.Trim(strings.TrimSpace(line), "|"), "|")
		if len(cells) != 5 || strings.TrimSpace(cells[0]) == "where" || strings.HasPrefix(cells[0], "-") {
			continue
		}
		for i := range cells {
			cells[i] = strings.Trim(strings.TrimSpace(cells[i]), "`")
		}
		kind, subresource, _ := strings.Cut(cells[1], "/")
		resource, group, _ := strings.Cut(kind, ".")
		if subresource != "" {
			resource += "/" + subresource
		}
		if cells[2] == anyName {
			cells[2] = ""
		}
		for _, verb := range strings.Split(cells[3], ", ") {
			out = append(out, right{everywhere: cells[0] == everywhere, group: group, resource: resource, verb: verb, name: cells[2]})
		}
	}
	return sorted(out)
}

// Each policy that the page names exists; tests in policy_test.go check that it works as the page describes.
func TestThePageNamesExistingPolicies(t *testing.T) {
	_, text := tokensAndPage(t)
	root, err := cluster.ModuleRoot()
	require.NoError(t, err)
	var manifests strings.Builder
	for _, pattern := range []string{"*/deploy/policy.yaml", "crds/policies/*.yaml"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		require.NoError(t, err)
		for _, file := range files {
			content, err := os.ReadFile(file)
			require.NoError(t, err)
			manifests.Write(content)
		}
	}
	named := regexp.MustCompile("refused \\(`([a-z.-]+)`\\)|bound it \\(`([a-z.-]+)`\\)").FindAllStringSubmatch(text, -1)
	require.NotEmpty(t, named)
	for _, match := range named {
		require.Contains(t, manifests.String(), "kind: ValidatingAdmissionPolicy\nmetadata:\n  name: "+match[1]+match[2]+"\n")
	}
}

// Each granted right needs a meaning: what a thief does with it.
func TestARightWithoutAMeaningIsAnError(t *testing.T) {
	tokens, _ := tokensAndPage(t)
	tokens[0].rights = append(tokens[0].rights, right{resource: "configmaps", verb: "update"})
	_, err := page(tokens)
	require.ErrorContains(t, err, "im-monitor may update configmaps")
}
