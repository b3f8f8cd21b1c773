package command

import (
	"archive/zip"
	"io"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/testkit"
)

// The report has what support asks for. Credentials stay out of it, and Secrets are not even read.
func TestAReportHasObjectsAndNoCredentials(t *testing.T) {
	s := newScenario(t, "common.yaml", "report/objects.yaml").allowed("report")
	file := filepath.Join(t.TempDir(), "report.zip")
	got := s.run("report", "--file", file)
	require.Equal(t, ExitWell, got.code, got.err)
	require.Equal(t, file+"\n", got.out)
	require.Contains(t, got.err, "reading pod im-monitor-0 (1 of 1)\n")

	files := withoutCredentials(t, file)
	require.Contains(t, files["objects/volumes.yaml"], "name: reported")
	require.Contains(t, files["objects/pods.yaml"], "name: SOME_PASSWORD")
	require.Contains(t, files["objects/nodes.yaml"], "name: node-2")
	require.NotContains(t, files, "objects/secrets.yaml")
	require.NotContains(t, files["objects/pods.yaml"], "of-others")
	require.Contains(t, files["left-out.txt"], "reading the metrics of pod im-monitor-0", "its node has no kubelet")

	got = s.run("report", "--file", file)
	require.Equal(t, ExitFailed, got.code)
	require.Contains(t, got.err, "file exists; name another one with --file")

	all := s.run("report", "--file", file+".all", "--all-pods", "-o", "json")
	require.Equal(t, "{\n  \"file\": \""+file+".all\"\n}\n", all.out)
	require.Contains(t, all.err, "reading pod of-others (2 of 2)\n")

	require.EventuallyWithT(t, func(c *assert.CollectT) { // the audit log trails the answers
		requests, err := testkit.Cluster().AuditedRequests()
		require.NoError(c, err)
		used := testkit.Used(requests, "report")
		require.NotEmpty(c, used)
		for _, permission := range used {
			require.NotEqual(c, "secrets", permission.Resource)
		}
	}, time.Minute, 10*time.Millisecond)
}

// withoutCredentials returns the files of a report, none of which may have the password that the tests use.
func withoutCredentials(t *testing.T, file string) map[string]string {
	t.Helper()
	archive, err := zip.OpenReader(file)
	require.NoError(t, err)
	defer func() { _ = archive.Close() }()
	files := map[string]string{}
	for _, entry := range archive.File {
		content, err := entry.Open()
		require.NoError(t, err)
		text, err := io.ReadAll(content)
		require.NoError(t, err)
		files[entry.Name] = string(text)
		require.NotContains(t, string(text), "hunter2", entry.Name)
	}
	return files
}
