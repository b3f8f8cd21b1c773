package main

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	rbacv1 "k8s.io/api/rbac/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
)

// binaries are the controllers, each with a ServiceAccount of its name.
var binaries = []string{"im-monitor", "attach-controller", "snapshot-controller", "upgrade-controller", "orphan-controller", "api-gateway",
	"disk-controller"}

// right is one permission of a token.
type right struct {
	// everywhere: in every namespace, and on kinds without one; else in the namespace of the installation.
	everywhere bool
	// group is the API group, empty for Kubernetes' core; resource has its subresource behind a slash.
	group, resource string
	verb            string
	// name is the only object that it is about; empty: any.
	name string
}

// token is what one binary's token allows.
type token struct {
	binary string
	rights []right
}

// read returns the tokens of all binaries, as their deploy/role.yaml have them.
func read(root string) ([]token, error) {
	var tokens []token
	for _, binary := range binaries {
		content, err := os.ReadFile(filepath.Join(root, binary, "deploy", "role.yaml"))
		if err != nil {
			return nil, fmt.Errorf("reading the Role of %s: %w", binary, err)
		}
		t := token{binary: binary}
		for decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), len(content)); ; {
			var role rbacv1.ClusterRole // a Role has the same fields
			if err := decoder.Decode(&role); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, fmt.Errorf("reading the Role of %s: %w", binary, err)
			}
			for _, rule := range role.Rules {
				t.rights = append(t.rights, rightsOf(rule.APIGroups, rule.Resources, rule.ResourceNames, rule.Verbs,
					role.Kind == "ClusterRole")...)
			}
		}
		t.rights = sorted(withoutCovered(t.rights))
		tokens = append(tokens, t)
	}
	return tokens, nil
}

// withoutCovered drops rights in the namespace that are granted everywhere, too.
func withoutCovered(rights []right) []right {
	all := slices.Clone(rights)
	return slices.DeleteFunc(rights, func(r right) bool {
		covered := r
		covered.everywhere = true
		return !r.everywhere && slices.Contains(all, covered)
	})
}

// rightsOf lists what one rule allows, each right once.
func rightsOf(groups, resources, names, verbs []string, everywhere bool) []right {
	if len(names) == 0 {
		names = []string{""}
	}
	var out []right
	for _, group := range groups {
		for _, resource := range resources {
			for _, name := range names {
				for _, verb := range verbs {
					out = append(out, right{everywhere: everywhere, group: group, resource: resource, verb: verb, name: name})
				}
			}
		}
	}
	return out
}

// sorted orders rights by resource, and drops duplicates.
func sorted(rights []right) []right {
	slices.SortFunc(rights, func(a, b right) int {
		return cmp.Or(cmp.Compare(a.group, b.group), cmp.Compare(a.resource, b.resource), cmp.Compare(a.name, b.name),
			cmp.Compare(a.verb, b.verb),
			boolOrder(a.everywhere, b.everywhere))
	})
	return slices.Compact(rights)
}

func boolOrder(a, b bool) int {
	switch {
	case a == b:
		return 0
	case a:
		return -1
	default:
		return 1
	}
}

// kind is the resource with its group, as kubectl takes it.
func (r right) kind() string {
	if r.group == "" {
		return r.resource
	}
	resource, subresource, found := strings.Cut(r.resource, "/")
	if found {
		return resource + "." + r.group + "/" + subresource
	}
	return resource + "." + r.group
}
