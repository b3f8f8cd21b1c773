package backuptarget

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

// Of each kind of target the whole set is given and no other key: a server refuses the call for one that it does not know, and keeps
// in its environment what an earlier call gave it.
func TestWhatAnEngineIsGiven(t *testing.T) {
	pair := map[string]string{"AWS_ACCESS_KEY_ID": "id", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_ENDPOINTS": "https://minio:9000",
		"comment": "of Tuesday"}
	for name, c := range map[string]struct {
		url  string
		data map[string]string
		want []string
		says string
	}{
		"s3": {"s3://b@r/", pair, []string{"AWS_ACCESS_KEY_ID=id", "AWS_SECRET_ACCESS_KEY=secret", "AWS_ENDPOINTS=https://minio:9000",
			"AWS_CERT=",
			"VIRTUAL_HOSTED_STYLE=", "HTTPS_PROXY=", "HTTP_PROXY=", "NO_PROXY="}, ""},
		"s3 by the role of the pods": {"s3://b@r/", map[string]string{"AWS_IAM_ROLE_ARN": "arn:aws:iam::1:role/b"},
			[]string{"AWS_ENDPOINTS=", "AWS_CERT=",
				"VIRTUAL_HOSTED_STYLE=", "HTTPS_PROXY=", "HTTP_PROXY=", "NO_PROXY="}, ""},
		"s3 with what the newest servers know": {"s3://b@r/",
			map[string]string{"AWS_IAM_ROLE_ARN": "a", "AWS_SIGN_ACCEPT_ENCODING": "false"}, []string{"AWS_ENDPOINTS=",
				"AWS_CERT=", "VIRTUAL_HOSTED_STYLE=", "HTTPS_PROXY=", "HTTP_PROXY=", "NO_PROXY=", "AWS_SIGN_ACCEPT_ENCODING=false"}, ""},
		"s3 with half a pair": {"s3://b@r/", map[string]string{"AWS_ACCESS_KEY_ID": "id"}, nil, "AWS_SECRET_ACCESS_KEY"},
		"azblob": {"azblob://c@core.windows.net/", map[string]string{"AZBLOB_ACCOUNT_NAME": "n", "AZBLOB_ACCOUNT_KEY": "k"},
			[]string{"AZBLOB_ACCOUNT_NAME=n",
				"AZBLOB_ACCOUNT_KEY=k", "AZBLOB_ENDPOINT=", "AZBLOB_CERT=", "HTTPS_PROXY=", "HTTP_PROXY=", "NO_PROXY="}, ""},
		"cifs": {"cifs://nas/share", map[string]string{"CIFS_USERNAME": "u", "CIFS_PASSWORD": "p=1"},
			[]string{"CIFS_USERNAME=u", "CIFS_PASSWORD=p=1"}, ""},
		"cifs by no one":  {"cifs://nas/share", map[string]string{}, nil, "CIFS_USERNAME"},
		"nfs takes none":  {"nfs://nas:/backups", pair, nil, ""},
		"file takes none": {"file:///tmp", pair, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			data := map[string][]byte{}
			for key, value := range c.data {
				data[key] = []byte(value)
			}
			got, err := Envs(c.url, data)
			if c.says != "" {
				require.ErrorContains(t, err, c.says)
				return
			}
			require.NoError(t, err)
			require.Equal(t, c.want, got)
		})
	}
	require.Len(t, known["s3"], 8, "what is added for one call is added for none but that")
}

func TestWhetherABackupLiesInATarget(t *testing.T) {
	require.True(t, v1beta2.LiesInTarget("s3://b@r/?backup=b&volume=v", "s3://b@r/"))
	require.True(t, v1beta2.LiesInTarget("s3://b@r/?backup=b&volume=v", "s3://b@r"))
	require.False(t, v1beta2.LiesInTarget("s3://other@r/?backup=b&volume=v", "s3://b@r/"))
	require.True(t, v1beta2.LiesInTarget("cifs://nas/share?cifsOptions=x&backup=b&volume=v", "cifs://nas/share?cifsOptions=x"))
	require.False(t, v1beta2.LiesInTarget("", ""))
	require.False(t, v1beta2.LiesInTarget("nfs://nas:/backups", ""))
}
