package netpolicy

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/yaml"
)

func named(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }

func pods(match map[string]string) networkingv1.NetworkPolicyPeer {
	return networkingv1.NetworkPolicyPeer{PodSelector: &metav1.LabelSelector{MatchLabels: match}}
}

// longhornPolicy is the policy of Longhorn 1.12.1 and newer.
func longhornPolicy() networkingv1.NetworkPolicy {
	return networkingv1.NetworkPolicy{ObjectMeta: named("instance-manager"), Spec: networkingv1.NetworkPolicySpec{
		PodSelector: metav1.LabelSelector{MatchLabels: map[string]string{"longhorn.io/component": "instance-manager"}},
		PolicyTypes: []networkingv1.PolicyType{networkingv1.PolicyTypeIngress},
		Ingress: []networkingv1.NetworkPolicyIngressRule{{From: []networkingv1.NetworkPolicyPeer{
			pods(map[string]string{"app": "longhorn-manager"}), pods(map[string]string{"longhorn.io/component": "instance-manager"})}}},
	}}
}

// ownPolicy is the policy that Drover delivers.
func ownPolicy(t *testing.T) networkingv1.NetworkPolicy {
	t.Helper()
	raw, err := os.ReadFile("../../" + File)
	require.NoError(t, err)
	var p networkingv1.NetworkPolicy
	require.NoError(t, yaml.Unmarshal(raw, &p))
	return p
}

// P4: the policy of Longhorn 1.12.1 lets longhorn-manager in, and no other control plane.
func TestThePolicyThatKeepsTheMonitorOutIsFound(t *testing.T) {
	tcp, udp := corev1.ProtocolTCP, corev1.ProtocolUDP
	opens := func(change func(*networkingv1.NetworkPolicyIngressRule)) networkingv1.NetworkPolicy {
		p := longhornPolicy()
		p.Name = "another"
		last := int32(8504)
		rule := networkingv1.NetworkPolicyIngressRule{From: []networkingv1.NetworkPolicyPeer{pods(map[string]string{"app": "im-monitor"})},
			Ports: []networkingv1.NetworkPolicyPort{{Protocol: &tcp, Port: new(intstr.FromInt32(8500)), EndPort: &last}}}
		change(&rule)
		p.Spec.Ingress = []networkingv1.NetworkPolicyIngressRule{rule}
		return p
	}
	one := func(change func(*networkingv1.NetworkPolicyIngressRule)) []networkingv1.NetworkPolicy {
		return []networkingv1.NetworkPolicy{opens(change)}
	}
	inNamespace := func(name string) func(*networkingv1.NetworkPolicyIngressRule) {
		return func(r *networkingv1.NetworkPolicyIngressRule) {
			r.From[0].NamespaceSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"kubernetes.io/metadata.name": name}}
		}
	}
	for name, c := range map[string]struct {
		beside []networkingv1.NetworkPolicy
		cut    bool
	}{
		"the policy alone":                  {cut: true},
		"beside the policy of Drover":       {beside: []networkingv1.NetworkPolicy{ownPolicy(t)}},
		"beside one that lets it in":        {beside: []networkingv1.NetworkPolicy{opens(func(*networkingv1.NetworkPolicyIngressRule) {})}},
		"beside one that lets everybody in": {beside: one(func(r *networkingv1.NetworkPolicyIngressRule) { r.From = nil })},
		"beside one that opens every port":  {beside: one(func(r *networkingv1.NetworkPolicyIngressRule) { r.Ports = nil })},
		"beside one that opens some ports": {cut: true,
			beside: []networkingv1.NetworkPolicy{opens(func(r *networkingv1.NetworkPolicyIngressRule) { r.Ports[0].EndPort = nil })}},
		"beside one that opens ports of UDP": {cut: true,
			beside: []networkingv1.NetworkPolicy{opens(func(r *networkingv1.NetworkPolicyIngressRule) { r.Ports[0].Protocol = &udp })}},
		"beside one for this namespace":    {beside: []networkingv1.NetworkPolicy{opens(inNamespace("longhorn-system"))}},
		"beside one for another namespace": {cut: true, beside: []networkingv1.NetworkPolicy{opens(inNamespace("other"))}},
		"beside one for addresses": {cut: true, beside: []networkingv1.NetworkPolicy{opens(func(r *networkingv1.NetworkPolicyIngressRule) {
			r.From[0] = networkingv1.NetworkPolicyPeer{IPBlock: &networkingv1.IPBlock{CIDR: "10.0.0.0/8"}}
		})}},
	} {
		t.Run(name, func(t *testing.T) {
			found := CutOff("longhorn-system", append(c.beside, longhornPolicy()))
			require.Equal(t, c.cut, len(found) > 0, "%v", found)
			if c.cut {
				require.Contains(t, found, "instance-manager")
			}
		})
	}
	elsewhere, egress, onlyV2 := longhornPolicy(), longhornPolicy(), longhornPolicy()
	elsewhere.Spec.PodSelector.MatchLabels = map[string]string{"app": "longhorn-ui"}
	egress.Spec.PolicyTypes = []networkingv1.PolicyType{networkingv1.PolicyTypeEgress}
	onlyV2.Spec.PodSelector.MatchLabels = map[string]string{"longhorn.io/data-engine": "v2"}
	require.Empty(t, CutOff("longhorn-system", []networkingv1.NetworkPolicy{elsewhere, egress}))
	require.Equal(t, []string{"instance-manager"}, CutOff("longhorn-system", []networkingv1.NetworkPolicy{onlyV2}))
	require.Empty(t, CutOff("longhorn-system", nil), "a pod that no policy selects is open")
}
