package bundle

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatLooksLikeACredentialIsLeftOutOfObjects(t *testing.T) {
	object := map[string]any{
		"metadata": map[string]any{"name": "default", "managedFields": []any{"x"}, "annotations": map[string]any{
			lastApplied: `{"password":"hunter2"}`, "example.com/api-key": "abc", "note": "kept"}},
		"spec": map[string]any{
			"credentialSecret": "backup-credentials", "secretName": "tls", "backupTargetURL": "s3://user:hunter2@host/bucket",
			"password": "hunter2", "empty-token": "",
			"env": []any{map[string]any{"name": "AWS_SECRET_ACCESS_KEY", "value": "hunter2"}, map[string]any{"name": "TZ", "value": "UTC"}},
		},
	}
	require.Equal(t, map[string]any{
		"metadata": map[string]any{"name": "default", "annotations": map[string]any{"example.com/api-key": Redacted, "note": "kept"}},
		"spec": map[string]any{
			"credentialSecret": "backup-credentials", "secretName": "tls", "backupTargetURL": "s3://" + Redacted + "@host/bucket",
			"password": Redacted, "empty-token": "",
			"env": []any{map[string]any{"name": "AWS_SECRET_ACCESS_KEY", "value": Redacted}, map[string]any{"name": "TZ", "value": "UTC"}},
		},
	}, Object(object))
}

func TestWhatLooksLikeACredentialIsLeftOutOfLogs(t *testing.T) {
	for text, want := range map[string]string{
		"volume vol-1 attached":                                             "volume vol-1 attached",
		"password=hunter2 user=me":                                          "password=" + Redacted + " user=me",
		`{"token":"hunter2","node":"node-1"}`:                               `{"token":"` + Redacted + `","node":"node-1"}`,
		"Authorization: Bearer abcdefghijklmnop":                            "Authorization: " + Redacted,
		"key AKIAABCDEFGHIJKLMNOP used":                                     "key " + Redacted + " used",
		"-----BEGIN EC PRIVATE KEY-----\nabc\n-----END EC PRIVATE KEY-----": Redacted,
	} {
		require.Equal(t, want, Text(text))
	}
}
