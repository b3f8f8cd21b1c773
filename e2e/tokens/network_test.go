package main

import (
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
)

// deployed returns the Deployments and NetworkPolicies of all manifests, by name.
func deployed(t *testing.T) (map[string]*appsv1.Deployment, map[string]*networkingv1.NetworkPolicy) {
	t.Helper()
	deployments, policies := map[string]*appsv1.Deployment{}, map[string]*networkingv1.NetworkPolicy{}
	for _, objects := range manifests(t) {
		for _, object := range objects {
			switch object.GetKind() {
			case "Deployment", "DaemonSet": // which has a selector and a template in the same place
				d := &appsv1.Deployment{}
				require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, d))
				deployments[d.Name] = d
			case "NetworkPolicy":
				p := &networkingv1.NetworkPolicy{}
				require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, p))
				policies[p.Name] = p
			}
		}
	}
	return deployments, policies
}

// A port that a controller opens is in its policy, and its metrics, and the REST API, are open only to the named clients.
func TestEveryPortOfAControllerHasARule(t *testing.T) {
	deployments, policies := deployed(t)
	for _, binary := range binaries {
		d, p := deployments[binary], policies[binary]
		require.NotNil(t, p, binary)
		require.Equal(t, d.Spec.Selector.MatchLabels, p.Spec.PodSelector.MatchLabels)
		var opened, ruled []string
		for _, port := range d.Spec.Template.Spec.Containers[0].Ports {
			opened = append(opened, port.Name)
		}
		for _, rule := range p.Spec.Ingress {
			for _, port := range rule.Ports {
				ruled = append(ruled, port.Port.String())
				named := port.Port.String() == "metrics" || port.Port.String() == "manager"
				require.Equal(t, named, len(rule.From) > 0, "%s: %s", binary, port.Port.String())
			}
		}
		require.ElementsMatch(t, opened, ruled, binary)
	}
}

// An instance manager without mutual TLS executes the calls of every client that reaches it.
func TestOnlyImMonitorReachesTheCallsOfInstanceManagers(t *testing.T) {
	deployments, policies := deployed(t)
	policy := policies["drover-instance-manager"]
	require.NotNil(t, policy)
	manager := labels.Set{"longhorn.io/component": "instance-manager", "longhorn.io/managed-by": "longhorn-manager"}
	selects := func(selector *metav1.LabelSelector, pod labels.Set) bool {
		s, err := metav1.LabelSelectorAsSelector(selector)
		require.NoError(t, err)
		return s.Matches(pod)
	}
	require.True(t, selects(&policy.Spec.PodSelector, manager))
	reaches := func(pod labels.Set, port int32) bool {
		for _, rule := range policy.Spec.Ingress {
			from := len(rule.From) == 0
			for _, peer := range rule.From {
				from = from || selects(peer.PodSelector, pod)
			}
			for _, p := range rule.Ports {
				tcp := p.Protocol == nil || *p.Protocol == corev1.ProtocolTCP
				if from && tcp && p.Port.IntVal <= port && port <= *p.EndPort {
					return true
				}
			}
		}
		return false
	}
	previous := labels.Set{"app": "web"}
	for _, port := range []int32{8500, 8501, 8502, 8503, 8504} {
		require.False(t, reaches(previous, port), port)
		require.True(t, reaches(deployments["im-monitor"].Spec.Template.Labels, port), port)
		require.True(t, reaches(manager, port), port)
		for _, other := range []string{"attach-controller", "orphan-controller", "snapshot-controller", "upgrade-controller"} {
			require.False(t, reaches(deployments[other].Spec.Template.Labels, port), "%s %d", other, port)
		}
	}
	for _, port := range []int32{1, 3260, 8499, 8505, 10000, 20001, 65535} {
		require.True(t, reaches(previous, port), "data: %d", port)
	}
}
