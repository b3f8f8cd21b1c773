package v1beta2_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

// reasons returns the documented constants whose names begin with Reason, by their value.
func reasons(t *testing.T) map[string]string {
	t.Helper()
	files, err := filepath.Glob("*_conditions.go")
	require.NoError(t, err)
	require.NotEmpty(t, files)
	found := map[string]string{}
	for _, file := range files {
		raw, err := os.ReadFile(file)
		require.NoError(t, err)
		parsed, err := parser.ParseFile(token.NewFileSet(), file, raw, parser.ParseComments)
		require.NoError(t, err)
		ast.Inspect(parsed, func(node ast.Node) bool {
			spec, ok := node.(*ast.ValueSpec)
			if !ok || !strings.HasPrefix(spec.Names[0].Name, "Reason") {
				return true
			}
			value, err := strconv.Unquote(spec.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			require.NotContains(t, found, value, "two constants for one reason")
			require.Equal(t, spec.Names[0].Name, "Reason"+value, "the constant is named for its value")
			require.Contains(t, spec.Doc.Text(), " surfaces ", "%s states when it surfaces", spec.Names[0].Name)
			found[value] = spec.Names[0].Name
			return true
		})
	}
	return found
}

// The lists are closed: whoever writes a reason writes one of these, and each of them is written somewhere.
func TestEveryReasonIsInTheTableAndTheTableHasNoOther(t *testing.T) {
	known := reasons(t)
	used := map[string]bool{}
	for _, contract := range v1beta2.ConditionContracts() {
		for _, reason := range append(append([]string{}, contract.True...), contract.False...) {
			used[reason] = true
			if contract.Type != v1beta2.OrphanInstanceState {
				require.Contains(t, known, reason, "%s %s", contract.Kind, contract.Type)
			}
		}
	}
	for _, reason := range v1beta2.OrphanNonDecisions() {
		used[reason] = true
		require.Contains(t, known, reason)
	}
	for reason := range known {
		require.True(t, used[reason], "no condition lists the reason %s", reason)
	}
}

// Two conditions of one type in one list would be one condition with two writers.
func TestEveryConditionHasOneWriterAndNoReasonIsBothTrueAndFalse(t *testing.T) {
	seen := map[string]bool{}
	for _, contract := range v1beta2.ConditionContracts() {
		key := contract.Kind + " " + contract.Part + " " + contract.Type
		require.False(t, seen[key], key)
		seen[key] = true
		require.NotEmpty(t, contract.Writer, key)
		require.NotEmpty(t, contract.Means, key)
		for _, reason := range contract.True {
			require.NotContains(t, contract.False, reason, key)
		}
	}
}

// The contract's table, word for word where peer controllers of other versions depend on it.
func TestOrphanReasonsAreThoseOfTheContract(t *testing.T) {
	want := map[string][2]string{
		"Orphaned":       {"NoOwnerCR OwnedByOtherInstanceManager StoppedButPresent DataOnly ForeignData", ""},
		"Withdrawn":      {"InstanceGone UUIDMismatch Claimed Renamed NotCleanable", ""},
		"DeletionReason": {"AutoDeletion Eviction", ""},
		"CleanupApproved": {"Approved", "GracePeriod LastCopy Flood NotAbandoned MappedByEngine RateLimited Acknowledged DryRun Claimed " +
			"NodeGone InstanceManagerGone NotJudged NoDataPath"},
		"DataCleanable": {"", "NodeUnavailable NodeEvicted DiskInvalid DiskChanged DiskEvicted"},
		"CleanupFailed": {"Unreachable Refused StillPresent MappedByEngine LastCopy", ""},
	}
	for _, contract := range v1beta2.ConditionContracts() {
		if lists, ok := want[contract.Type]; ok && contract.Kind == "Orphan" {
			require.Equal(t, lists[0], strings.Join(contract.True, " "), contract.Type)
			require.Equal(t, lists[1], strings.Join(contract.False, " "), contract.Type)
		}
	}
}
