package takeover

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

func named(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Name: name} }

// longhornPolicy is the policy of Longhorn 1.12.1 and newer, openPolicy one that lets everybody in.
func longhornPolicy() networkingv1.NetworkPolicy {
	return networkingv1.NetworkPolicy{ObjectMeta: named("instance-manager"), Spec: networkingv1.NetworkPolicySpec{
		PodSelector: metav1.LabelSelector{MatchLabels: map[string]string{v1beta2.LabelComponent: v1beta2.ComponentInstanceManager}},
		Ingress: []networkingv1.NetworkPolicyIngressRule{{From: []networkingv1.NetworkPolicyPeer{{
			PodSelector: &metav1.LabelSelector{MatchLabels: ManagerPods}}}}},
	}}
}

func openPolicy() networkingv1.NetworkPolicy {
	p := longhornPolicy()
	p.Spec.Ingress = []networkingv1.NetworkPolicyIngressRule{{}}
	return p
}

func deployment(name string, replicas int32) appsv1.Deployment {
	return appsv1.Deployment{ObjectMeta: named(name), Spec: appsv1.DeploymentSpec{Replicas: &replicas}}
}

// running is an installation as its chart leaves it, with work under way.
func running() Found {
	recurring := named("nightly")
	recurring.OwnerReferences = []metav1.OwnerReference{{Kind: "RecurringJob", Name: "nightly"}}
	definition := apiextensionsv1.CustomResourceDefinition{ObjectMeta: named("volumes.longhorn.io"),
		Spec: apiextensionsv1.CustomResourceDefinitionSpec{
			Group: "longhorn.io", Conversion: &apiextensionsv1.CustomResourceConversion{Strategy: apiextensionsv1.WebhookConverter}}}
	return Found{
		Namespace: "longhorn-system",
		Volumes: []v1beta2.Volume{
			{ObjectMeta: named("moves"), Spec: v1beta2.VolumeSpec{MigrationNodeID: "node-2"}},
			{ObjectMeta: named("upgrades"), Spec: v1beta2.VolumeSpec{Image: "engine:2"},
				Status: v1beta2.VolumeStatus{CurrentImage: "engine:1"}},
		},
		Engines: []v1beta2.Engine{
			{ObjectMeta: named("grows-e-0"), Status: v1beta2.EngineStatus{IsExpanding: true}},
			{ObjectMeta: named("quiet-e-0")},
		},
		Settings: []v1beta2.Setting{{ObjectMeta: named(engineUpgrades), Value: "3"}},
		Managers: []v1beta2.InstanceManager{{ObjectMeta: named("instance-manager-1")}},
		Pods: []corev1.Pod{{ObjectMeta: named("longhorn-manager-x"), Status: corev1.PodStatus{Phase: corev1.PodRunning}},
			{ObjectMeta: named("longhorn-manager-y"), Status: corev1.PodStatus{Phase: corev1.PodSucceeded}}},
		DaemonSets: []appsv1.DaemonSet{{ObjectMeta: named(manager),
			Status: appsv1.DaemonSetStatus{DesiredNumberScheduled: 3, CurrentNumberScheduled: 3}},
			{ObjectMeta: named("longhorn-csi-plugin")}},
		Deployments: []appsv1.Deployment{deployment(deployer, 1), deployment(attacher, 3), deployment(snapshotter, 3),
			deployment("csi-provisioner", 3)},
		CronJobs: []batchv1.CronJob{{ObjectMeta: recurring}, {ObjectMeta: named("somebody-elses")}},
		Budgets: []policyv1.PodDisruptionBudget{{ObjectMeta: named("instance-manager-1")}, {ObjectMeta: named("csi-attacher")},
			{ObjectMeta: named("somebody-elses")}},
		Validating: []admissionv1.ValidatingWebhookConfiguration{{ObjectMeta: named(ValidatingWebhook)},
			{ObjectMeta: named("somebody-elses")}},
		Mutating:        []admissionv1.MutatingWebhookConfiguration{{ObjectMeta: named(MutatingWebhook)}},
		Definitions:     []apiextensionsv1.CustomResourceDefinition{definition},
		NetworkPolicies: []networkingv1.NetworkPolicy{longhornPolicy()},
	}
}

func TestEverythingIsFoundInTheOrderOfTheSteps(t *testing.T) {
	var objects []string
	for _, o := range Obstacles(running()) {
		objects = append(objects, o.Object)
		require.NotEmpty(t, o.Why, o.Object)
		require.True(t, strings.HasPrefix(o.Do, "wait") || strings.Contains(o.Do, "kubectl "), "%s: %s", o.Object, o.Do)
	}
	require.Equal(t, []string{
		"Volume moves", "Volume upgrades", "Engine grows-e-0", "Setting " + engineUpgrades,
		"CronJob nightly", "Deployment longhorn-driver-deployer",
		"DaemonSet longhorn-manager", "Pod longhorn-manager-x",
		"ValidatingWebhookConfiguration longhorn-webhook-validator", "MutatingWebhookConfiguration longhorn-webhook-mutator",
		"CustomResourceDefinition volumes.longhorn.io",
		"NetworkPolicy instance-manager",
		"Deployment csi-attacher", "Deployment csi-snapshotter",
		"PodDisruptionBudget csi-attacher",
	}, objects)
}

func TestNothingStandsAgainstWhatWasDealtWith(t *testing.T) {
	f := running()
	suspended := true
	f.Volumes, f.Engines, f.Settings = nil, nil, []v1beta2.Setting{{ObjectMeta: named(engineUpgrades), Value: "0"}}
	f.CronJobs[0].Spec.Suspend = &suspended
	f.DaemonSets[0].Status, f.Pods = appsv1.DaemonSetStatus{}, f.Pods[1:]
	f.Deployments = []appsv1.Deployment{deployment(deployer, 0), deployment(attacher, 0), deployment(snapshotter, 0),
		deployment("csi-provisioner", 3)}
	f.Validating, f.Mutating, f.Definitions = nil, nil, nil
	f.Budgets = f.Budgets[:1]
	f.NetworkPolicies = append(f.NetworkPolicies, openPolicy())
	require.Empty(t, Obstacles(f))
}
