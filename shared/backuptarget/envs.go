package backuptarget

import (
	"fmt"
	"slices"
	"strings"
)

// Keys of Secrets that mean more than their value.
const (
	awsKey    = "AWS_ACCESS_KEY_ID"
	awsSecret = "AWS_SECRET_ACCESS_KEY"
	// awsRole names a role that the instance managers' pods have; there is no pair of keys then.
	awsRole = "AWS_IAM_ROLE_ARN"
	// awsSign is known to the newest servers alone.
	awsSign = "AWS_SIGN_ACCEPT_ENCODING"
)

var proxies = []string{"HTTPS_PROXY", "HTTP_PROXY", "NO_PROXY"}

// known are the keys of each kind of target. A server refuses any other key, and keeps what it was given once, so that all of a
// kind are given, empty ones too.
var known = map[string][]string{
	"s3":     append([]string{awsKey, awsSecret, "AWS_ENDPOINTS", "AWS_CERT", "VIRTUAL_HOSTED_STYLE"}, proxies...),
	"azblob": append([]string{"AZBLOB_ACCOUNT_NAME", "AZBLOB_ACCOUNT_KEY", "AZBLOB_ENDPOINT", "AZBLOB_CERT"}, proxies...),
	"cifs":   {"CIFS_USERNAME", "CIFS_PASSWORD"},
}

// needed are keys without which a target of the kind is not reached.
var needed = map[string][]string{
	"s3":     {awsKey, awsSecret},
	"azblob": {"AZBLOB_ACCOUNT_NAME", "AZBLOB_ACCOUNT_KEY"},
	"cifs":   {"CIFS_USERNAME", "CIFS_PASSWORD"},
}

// Envs are what an engine is given for a target at this URL, from the data of its Secret; nil: that kind of target takes none. An
// error reports which key is missing.
func Envs(url string, data map[string][]byte) ([]string, error) {
	scheme, _, _ := strings.Cut(url, "://")
	keys, must := known[scheme], needed[scheme]
	if scheme == "s3" {
		if len(data[awsRole]) > 0 {
			keys, must = without(keys, must), nil
		}
		if _, given := data[awsSign]; given {
			keys = append(slices.Clone(keys), awsSign)
		}
	}
	for _, key := range must {
		if len(data[key]) == 0 {
			return nil, fmt.Errorf("the key %s is missing or empty", key)
		}
	}
	var out []string
	for _, key := range keys {
		out = append(out, key+"="+string(data[key]))
	}
	return out, nil
}

func without(keys, gone []string) []string {
	return slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return slices.Contains(gone, key) })
}
