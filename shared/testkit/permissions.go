package testkit

import (
	"cmp"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"

	"drover.dev/drover/shared/testkit/cluster"
)

// Permission is one thing that a role allows or a request needs: an API group (empty is core), a resource with its
// subresource after a slash, and a verb.
type Permission struct{ Group, Resource, Verb string }

// Granted returns what the rules allow, sorted, each once. Wildcards stay what they are.
func Granted(rules []rbacv1.PolicyRule) []Permission {
	var granted []Permission
	for _, rule := range rules {
		for _, group := range rule.APIGroups {
			for _, resource := range rule.Resources {
				for _, verb := range rule.Verbs {
					granted = append(granted, Permission{Group: group, Resource: resource, Verb: verb})
				}
			}
		}
	}
	return sortedSet(granted)
}

// Used returns what the ServiceAccount, in whatever namespace, asked the API server for, sorted, each once. A test that
// compares it with Granted knows that a role lacks nothing and has nothing too much.
func Used(requests []cluster.Request, serviceAccount string) []Permission {
	var used []Permission
	for _, request := range requests {
		account, ok := strings.CutPrefix(request.User, "system:serviceaccount:")
		_, name, _ := strings.Cut(account, ":")
		if ok && name == serviceAccount && request.Resource != "" {
			used = append(used, Permission{Group: request.Group, Resource: request.Resource, Verb: request.Verb})
		}
	}
	return sortedSet(used)
}

func sortedSet(permissions []Permission) []Permission {
	slices.SortFunc(permissions, func(a, b Permission) int {
		return cmp.Or(cmp.Compare(a.Group, b.Group), cmp.Compare(a.Resource, b.Resource), cmp.Compare(a.Verb, b.Verb))
	})
	return slices.Compact(permissions)
}
