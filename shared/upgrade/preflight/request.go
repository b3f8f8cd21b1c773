package preflight

import "fmt"

// Refused returns the blocker that the API server refuses a request that the binary will have to send. The refusal names verb, object
// and the answer of the API server.
func Refused(binary, user, refusal string) Blocker {
	as := ""
	if user != "" {
		as = " (as " + user + ")"
	}
	return Blocker{Kind: RequestRefused, Message: fmt.Sprintf("%s%s may not %s. Change the role, the policy or the webhook that refuses it, "+
		"or run %s with the token of its own ServiceAccount.", binary, as, refusal, binary)}
}

// Untried returns the blocker that a binary has not reported whether its requests would be accepted.
func Untried(binary string) Blocker {
	return Blocker{Kind: RequestsUntried, Message: fmt.Sprintf("%s has not tried what it will have to write and delete. Check that it runs, "+
		"that it leads (Lease drover-%s) and that it is of this release.", binary, binary)}
}
