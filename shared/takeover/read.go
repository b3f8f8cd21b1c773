package takeover

import (
	"context"
	"errors"
	"fmt"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
)

// Read finds what exists, with the rights of the caller. The error names everything that could not be read; what could be read is returned
// nevertheless.
func Read(ctx context.Context, reader client.Reader, namespace string) (Found, error) {
	var (
		volumes     v1beta2.VolumeList
		engines     v1beta2.EngineList
		backups     v1beta2.BackupList
		settings    v1beta2.SettingList
		managers    v1beta2.InstanceManagerList
		pods        corev1.PodList
		daemonSets  appsv1.DaemonSetList
		deployments appsv1.DeploymentList
		cronJobs    batchv1.CronJobList
		budgets     policyv1.PodDisruptionBudgetList
		validating  admissionv1.ValidatingWebhookConfigurationList
		mutating    admissionv1.MutatingWebhookConfigurationList
		definitions apiextensionsv1.CustomResourceDefinitionList
		policies    networkingv1.NetworkPolicyList
		classes     storagev1.StorageClassList
		nodes       v1beta2.NodeList
		images      v1beta2.EngineImageList
		shares      v1beta2.ShareManagerList
	)
	var problems []error
	read := func(list client.ObjectList, options ...client.ListOption) {
		if err := reader.List(ctx, list, options...); err != nil {
			problems = append(problems, fmt.Errorf("listing %T: %w", list, err))
		}
	}
	for _, list := range []client.ObjectList{&volumes, &engines, &backups, &settings, &managers, &daemonSets, &deployments, &cronJobs,
		&budgets, &policies, &nodes, &images, &shares} {
		read(list, client.InNamespace(namespace))
	}
	read(&pods, client.InNamespace(namespace), client.MatchingLabels(ManagerPods))
	for _, list := range []client.ObjectList{&validating, &mutating, &definitions, &classes} {
		read(list)
	}
	return Found{
		Namespace: namespace, Volumes: volumes.Items, Engines: engines.Items, Backups: backups.Items, Settings: settings.Items,
		Managers: managers.Items,
		Pods:     pods.Items, DaemonSets: daemonSets.Items, Deployments: deployments.Items, CronJobs: cronJobs.Items,
		Budgets:    budgets.Items,
		Validating: validating.Items, Mutating: mutating.Items, Definitions: definitions.Items,
		NetworkPolicies: policies.Items, Classes: classes.Items, Nodes: nodes.Items, EngineImages: images.Items, Shares: shares.Items,
	}, errors.Join(problems...)
}
