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

// Each of these is a form in which programs of a cluster write credentials.
func TestNoFormOfACredentialGetsIntoAReport(t *testing.T) {
	for _, text := range []string{
		`{"msg":"sent {\"password\":\"hunter2\",\"node\":\"kept\"}"}`,
		`{"msg":"{\\\"token\\\":\\\"hunter2\\\"}","node":"kept"}`,
		`password="hunter2 hunter2" node=kept`, `password='hunter2 hunter2' node=kept`, `{"password": "hunter2 hunter2", "node": "kept"}`,
		"password=(hunter2 node=kept", "password=(left-hunter2 node=kept", "secretKey=hunter2 node=kept", "private_key=hunter2 node=kept",
		"credential=hunter2 node=kept",
		"CRYPTO_KEY_VALUE=hunter2 node=kept", "CRYPTO_KEY_VALUE: hunter2 kept", "AWS_SECRET_ACCESS_KEY=hunter2 node=kept",
		"run --token hunter2 --node kept", "run --api-key=hunter2 --node kept",
		"s3://:hunter2@host/kept", "cifs://user:hunt/hunter2@host/kept", "cifs://user:p@hunter2@host/kept", "S3://user:hunter2@host/kept",
	} {
		require.NotContains(t, Text(text), "hunter2", text)
		require.Contains(t, Text(text), "kept", text)
	}
	for _, text := range []string{
		"secret name kept", "the token expired", "secretName: kept", "credential-secret-ref=kept", "https://host:80/a",
	} {
		require.Equal(t, text, Text(text))
	}
	object := Object(map[string]any{
		"args":     []any{"--token", "hunter2", "--password=hunter2", "--node", "kept"},
		"password": []any{"hunter2", map[string]any{"a": "hunter2"}}, "tokens": map[string]any{"a": "hunter2", "b": float64(4711)},
		"automountServiceAccountToken": true, "secret": map[string]any{"secretName": "kept-2", "optional": true},
		"secretKeyRef": map[string]any{"name": "kept-3", "key": "token"},
	})
	require.Equal(t, map[string]any{
		"args":     []any{"--token", Redacted, "--password=" + Redacted, "--node", "kept"},
		"password": []any{Redacted, map[string]any{"a": Redacted}}, "tokens": map[string]any{"a": Redacted, "b": Redacted},
		"automountServiceAccountToken": true, "secret": map[string]any{"secretName": "kept-2", "optional": true},
		"secretKeyRef": map[string]any{"name": "kept-3", "key": "token"},
	}, object)
}
