package setting

import (
	"fmt"
	"slices"
	"strings"
)

// NodeDownPolicy is the value of node-down-pod-deletion-policy: which pods are deleted by force from a down node.
type NodeDownPolicy string

// The policies.
const (
	DoNothing                             NodeDownPolicy = "do-nothing"
	DeleteStatefulSetPod                  NodeDownPolicy = "delete-statefulset-pod"
	DeleteDeploymentPod                   NodeDownPolicy = "delete-deployment-pod"
	DeleteBothStatefulSetAndDeploymentPod NodeDownPolicy = "delete-both-statefulset-and-deployment-pod"
)

// Kinds of controllers, as KindOf writes them.
const (
	statefulSet = "apps/StatefulSet"
	replicaSet  = "apps/ReplicaSet" // those of Deployments, and those without
)

// Covers reports whether the policy is about pods of controllers of a kind.
func (p NodeDownPolicy) Covers(kind string) bool {
	switch p {
	case DeleteStatefulSetPod:
		return kind == statefulSet
	case DeleteDeploymentPod:
		return kind == replicaSet
	case DeleteBothStatefulSetAndDeploymentPod:
		return kind == statefulSet || kind == replicaSet
	}
	return false
}

func parseNodeDownPolicy(text string) (NodeDownPolicy, error) {
	known := []string{string(DoNothing), string(DeleteStatefulSetPod), string(DeleteDeploymentPod),
		string(DeleteBothStatefulSetAndDeploymentPod)}
	if !slices.Contains(known, text) {
		return "", fmt.Errorf("%q is none of %s", text, strings.Join(known, ", "))
	}
	return NodeDownPolicy(text), nil
}

// KindOf names the kind of a controller as <group>/<Kind>; the core group is empty. An apiVersion is <group>/<version>, or <version> in the
// core group.
func KindOf(apiVersion, kind string) string {
	group, _, found := strings.Cut(apiVersion, "/")
	if !found {
		group = ""
	}
	return group + "/" + kind
}

// kindsOf reads a list of <group>/<Kind>, separated by semicolons. A kind of the core group is <Kind>, /<Kind> or core/<Kind>. Every list
// is read: if a wrong item made the whole list void, the pods of the other items would not be spared any more.
func kindsOf(text string) []string {
	var out []string
	for item := range strings.SplitSeq(text, ";") {
		item = strings.TrimSpace(item)
		if item == "" {
			continue
		}
		group, kind, found := strings.Cut(item, "/")
		if !found {
			group, kind = "", item
		}
		if group == "core" {
			group = ""
		}
		out = append(out, group+"/"+kind)
	}
	return out
}
