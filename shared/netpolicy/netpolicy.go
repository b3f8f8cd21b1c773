// Package netpolicy finds the NetworkPolicies that keep im-monitor from the instance managers.
package netpolicy

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"

	"drover.dev/drover/shared/api/v1beta2"
)

const (
	// File has a policy that lets im-monitor reach the instance managers and leaves the ports of the data open.
	File = "im-monitor/deploy/networkpolicy-instance-manager.yaml"
	// firstPort and lastPort are the ports of an instance manager that im-monitor calls.
	firstPort, lastPort = 8500, 8504
)

// monitorPod are the labels of im-monitor's pods.
var monitorPod = labels.Set{"app": "im-monitor"}

// CutOff returns the names of the NetworkPolicies of the namespace that keep im-monitor from the instance managers, if the network
// enforces policies. Policies add up: none of them does if another one lets im-monitor in.
func CutOff(namespace string, policies []networkingv1.NetworkPolicy) []string {
	var out []string
	for _, engine := range []string{v1beta2.DataEngineV1, v1beta2.DataEngineV2} {
		pod := labels.Set{v1beta2.LabelComponent: v1beta2.ComponentInstanceManager, v1beta2.LabelDataEngine: engine,
			v1beta2.LabelManagedBy: v1beta2.ManagedByLonghornManager, v1beta2.LabelInstanceManagerType: v1beta2.InstanceManagerTypeAIO}
		var closing []string
		open := map[int32]bool{}
		for i := range policies {
			p := &policies[i]
			if !closes(p, pod) {
				continue
			}
			closing = append(closing, p.Name)
			for port := int32(firstPort); port <= lastPort; port++ {
				open[port] = open[port] || slices.ContainsFunc(p.Spec.Ingress, func(r networkingv1.NetworkPolicyIngressRule) bool {
					return admits(namespace, r, port)
				})
			}
		}
		for port := int32(firstPort); port <= lastPort; port++ {
			if !open[port] {
				out = append(out, closing...)
				break
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// closes reports whether a policy selects the pod, and so closes every port that no policy opens. A policy without policyTypes applies to
// ingress.
func closes(p *networkingv1.NetworkPolicy, pod labels.Set) bool {
	types := p.Spec.PolicyTypes
	return selects(&p.Spec.PodSelector, pod) && (len(types) == 0 || slices.Contains(types, networkingv1.PolicyTypeIngress))
}

// admits reports whether a rule lets im-monitor of the namespace reach a port.
func admits(namespace string, r networkingv1.NetworkPolicyIngressRule, port int32) bool {
	from := len(r.From) == 0 || slices.ContainsFunc(r.From, func(peer networkingv1.NetworkPolicyPeer) bool {
		if peer.IPBlock != nil || peer.NamespaceSelector != nil &&
			!selects(peer.NamespaceSelector, labels.Set{corev1.LabelMetadataName: namespace}) {
			return false
		}
		return peer.PodSelector == nil || selects(peer.PodSelector, monitorPod)
	})
	return from && (len(r.Ports) == 0 || slices.ContainsFunc(r.Ports, func(p networkingv1.NetworkPolicyPort) bool { return has(p, port) }))
}

// has reports whether a port of a rule, a number or a range of TCP, has the port. A named port does not count.
func has(p networkingv1.NetworkPolicyPort, port int32) bool {
	if p.Protocol != nil && *p.Protocol != corev1.ProtocolTCP {
		return false
	}
	if p.Port == nil {
		return true
	}
	first := p.Port.IntVal
	last := first
	if p.EndPort != nil {
		last = *p.EndPort
	}
	return first <= port && port <= last
}

// selects reports whether a selector selects the labels. A selector that cannot be read selects nothing.
func selects(selector *metav1.LabelSelector, set labels.Set) bool {
	s, err := metav1.LabelSelectorAsSelector(selector)
	return err == nil && s.Matches(set)
}
