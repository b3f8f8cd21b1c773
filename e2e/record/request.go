package record

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
)

// Kind classifies the requests that reach the API server.
type Kind string

// The kinds of requests. Only writes are numbered: leases and events are counted apart, reviews and dry runs change
// nothing.
const (
	KindRead   Kind = "read"
	KindWatch  Kind = "watch"
	KindWrite  Kind = "write"
	KindLease  Kind = "lease"
	KindEvent  Kind = "event"
	KindReview Kind = "review"
)

// Request is one request at the API server. Where the path names no resource, Resource is empty.
type Request struct {
	Kind                                                        Kind
	User, Verb, Group, Resource, Subresource, Namespace, Object string
}

// String returns verb, resource and name as in a log.
func (r Request) String() string {
	what := r.Resource
	if r.Subresource != "" {
		what += "/" + r.Subresource
	}
	return strings.TrimSpace(r.Verb + " " + what + " " + r.Object)
}

// parse reads the request from its method, path and query, and the user from its token.
func parse(r *http.Request) Request {
	out := Request{User: userOf(r.Header.Get("Authorization"))}
	parts := strings.Split(strings.Trim(r.URL.Path, "/"), "/")
	switch {
	case len(parts) >= 3 && parts[0] == "api":
		parts = parts[2:]
	case len(parts) >= 4 && parts[0] == "apis":
		out.Group, parts = parts[1], parts[3:]
	default:
		parts = nil
	}
	if len(parts) >= 3 && parts[0] == "namespaces" {
		out.Namespace, parts = parts[1], parts[2:]
	}
	for i, field := range []*string{&out.Resource, &out.Object, &out.Subresource} {
		if i < len(parts) {
			*field = parts[i]
		}
	}
	out.Verb = verbOf(r, out.Object)
	out.Kind = kindOf(r, out)
	return out
}

func verbOf(r *http.Request, object string) string {
	switch r.Method {
	case http.MethodPost:
		return "create"
	case http.MethodPut:
		return "update"
	case http.MethodPatch:
		return "patch"
	case http.MethodDelete:
		if object == "" {
			return "deletecollection"
		}
		return "delete"
	}
	if watch := r.URL.Query().Get("watch"); watch == "true" || watch == "1" {
		return "watch"
	}
	if object == "" {
		return "list"
	}
	return "get"
}

func kindOf(r *http.Request, request Request) Kind {
	switch request.Verb {
	case "watch":
		return KindWatch
	case "get", "list":
		return KindRead
	}
	switch {
	case r.URL.Query().Has("dryRun"), strings.HasSuffix(request.Resource, "reviews"), request.Subresource == "token":
		return KindReview
	case request.Resource == "leases":
		return KindLease
	case request.Resource == "events":
		return KindEvent
	}
	return KindWrite
}

// userOf is the last part of the token's subject, which for a ServiceAccount is its name.
func userOf(authorization string) string {
	subject := claimsOf(authorization).Subject
	if subject == "" {
		return "anonymous"
	}
	return subject[strings.LastIndex(subject, ":")+1:]
}

// claims are the claims of a token about its user; the zero value where there is none.
type claims struct {
	Subject string `json:"sub"`
	ID      string `json:"jti"`
}

// claimsOf reads a token without verifying it: that is the API server's task, and it does so for the same header.
func claimsOf(authorization string) (out claims) {
	parts := strings.Split(strings.TrimPrefix(authorization, "Bearer "), ".")
	if len(parts) != 3 {
		return claims{}
	}
	payload, err := base64.RawURLEncoding.DecodeString(parts[1])
	if err != nil || json.Unmarshal(payload, &out) != nil {
		return claims{}
	}
	return out
}

// TokenID is the Source of writes with this token.
func TokenID(token string) string { return claimsOf(token).ID }
