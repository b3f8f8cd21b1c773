package architecture

import (
	"bytes"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	"sigs.k8s.io/yaml"
)

const storageGroup = "storage.k8s.io"

// rights are the letters of the matrix in ARCHITECTURE.md that a Role can distinguish: R, C, D, and W for any patch or
// update, a dropped finalizer included.
type rights map[string]bool

var letterOfVerb = map[string]string{
	"get": "R", "list": "R", "watch": "R", "create": "C", "delete": "D", "patch": "W", "update": "W",
}

// People read the matrix to learn which controller may do what, so it must equal what the API server enforces.
func TestTheMatrixOfWritersIsWhatTheRolesGrant(t *testing.T) {
	matrix := readMatrix(t)
	for _, binary := range binaries {
		granted := readRoles(t, binary)
		for resource, letters := range granted {
			require.Equal(t, matrix[binary][resource], letters,
				"%s on %s: ARCHITECTURE.md (expected) and %s/deploy/role.yaml (actual) disagree", binary, resource, binary)
		}
		for resource, letters := range matrix[binary] {
			require.Equal(t, letters, granted[resource], "%s on %s: ARCHITECTURE.md (expected) and %s/deploy/role.yaml (actual) disagree",
				binary, resource, binary)
		}
	}
}

// readMatrix returns binary → resource.group → letters.
func readMatrix(t *testing.T) map[string]map[string]rights {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "ARCHITECTURE.md"))
	require.NoError(t, err)
	_, section, found := strings.Cut(string(text), "## Who writes what")
	require.True(t, found, "ARCHITECTURE.md has no section “Who writes what”")
	matrix := map[string]map[string]rights{}
	var columns []string
	for _, line := range strings.Split(section, "\n") {
		if strings.HasPrefix(line, "## ") {
			break
		}
		if !strings.HasPrefix(line, "|") || strings.HasPrefix(line, "|-") {
			continue
		}
		cells := strings.Split(strings.Trim(line, "|"), "|")
		if columns == nil {
			columns = cells
			continue
		}
		for i, cell := range cells[1:] {
			binary := strings.TrimSpace(columns[i+1])
			if matrix[binary] == nil {
				matrix[binary] = map[string]rights{}
			}
			for _, resource := range resourcesIn(cells[0]) {
				if letters := lettersIn(cell); len(letters) > 0 {
					matrix[binary][resource] = letters
				}
			}
		}
	}
	return matrix
}

var resourceName = regexp.MustCompile("`([a-z]+)`")

// resourcesIn names each resource of a cell; only nodes and volumeattachments, of which there are two kinds, need their group.
func resourcesIn(cell string) []string {
	var out []string
	for _, match := range resourceName.FindAllStringSubmatch(cell, -1) {
		if match[1] == "nodes" && strings.Contains(cell, "core") {
			out = append(out, "nodes (core)")
			continue
		}
		if match[1] == "volumeattachments" && strings.Contains(cell, storageGroup) {
			out = append(out, "volumeattachments ("+storageGroup+")")
			continue
		}
		out = append(out, match[1])
	}
	return out
}

var (
	quotedOrBracketed = regexp.MustCompile("`[^`]*`|\\([^)]*\\)")
	letter            = regexp.MustCompile(`\b[RWCDF]\b`)
)

func lettersIn(cell string) rights {
	out := rights{}
	for _, l := range letter.FindAllString(quotedOrBracketed.ReplaceAllString(cell, ""), -1) {
		if l == "F" {
			l = "W"
		}
		out[l] = true
	}
	return out
}

func readRoles(t *testing.T, binary string) map[string]rights {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, binary, "deploy", "role.yaml"))
	require.NoError(t, err)
	granted := map[string]rights{}
	for _, document := range bytes.Split(text, []byte("\n---")) {
		var role rbacv1.Role
		require.NoError(t, yaml.Unmarshal(document, &role))
		for _, rule := range role.Rules {
			for _, resource := range rule.Resources {
				name, _, _ := strings.Cut(resource, "/")
				if name == "nodes" && slices.Contains(rule.APIGroups, "") {
					name = "nodes (core)"
				}
				if name == "volumeattachments" && slices.Contains(rule.APIGroups, storageGroup) {
					name += " (" + storageGroup + ")"
				}
				if granted[name] == nil {
					granted[name] = rights{}
				}
				for _, verb := range rule.Verbs {
					require.Contains(t, letterOfVerb, verb, "%s may %s %s: the matrix has no letter for it", binary, verb, resource)
					granted[name][letterOfVerb[verb]] = true
				}
			}
		}
	}
	return granted
}
