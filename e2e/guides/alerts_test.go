//go:build !fast

package guides

import (
	"context"
	"regexp"

	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// alerts has what the runbooks name, without what they warn of: their commands look, and mend nothing here.
func alerts() guide {
	return guide{
		prepare: func(ctx context.Context, f *fixture) error {
			for _, step := range []func(context.Context, *fixture) error{attached, orphan, snapshot, replica} {
				if err := step(ctx, f); err != nil {
					return err
				}
			}
			if err := f.Set(ctx, "orphan-resource-auto-deletion", ""); err != nil {
				return err
			}
			if err := f.empty.sh(ctx, "kubectl create namespace monitoring && kubectl create namespace longhorn-system"); err != nil {
				return err
			}
			return f.shell.sh(ctx, `set -e
				kubectl run user --image=none
				kubectl -n longhorn-system create deployment csi-attacher --image=none --replicas=0
				kubectl -n longhorn-system create deployment csi-snapshotter --image=none --replicas=0
				bin/simulator certs .`)
		},
		words: alertWords,
		// The definitions are there, without the policies beside them, which would refuse to empty the system.
		empty: regexp.MustCompile(`^kubectl (apply .*-k |label namespace)`),
		each: steps{"kubectl drover orphans": orphan, "kubectl drover upgrade watch": upgraded, "kubectl drover detach": attach,
			"kubectl -n longhorn-system delete lhr": replica},
		before: steps{
			"kubectl -n longhorn-system describe secret longhorn-grpc-tls": func(ctx context.Context, f *fixture) error {
				return f.shell.sh(ctx, "kubectl -n longhorn-system create secret generic longhorn-grpc-tls --from-file=ca.crt")
			},
			"kubectl drover upgrade pause": upgrade("longhornio/longhorn-instance-manager:v1.13.0"),
		},
		exits: exits{
			"kubectl drover status": {2}, "kubectl drover doctor": {2, 3}, "kubectl drover upgrade": {2},
			"kubectl -n longhorn-system get lhsnap -o wide | grep":              {1}, // none has failed
			"kubectl -n longhorn-system get deploy ":                            {1}, // controllers are processes here, without Deployments
			"kubectl -n longhorn-system get secret snapshot-controller-webhook": {1}, // the page applies it later
		},
		after: func(ctx context.Context, f *fixture) error {
			if err := f.RemoveWebhooks(ctx); err != nil {
				return err
			}
			return f.shell.sh(ctx, `kubectl -n longhorn-system delete secret longhorn-grpc-tls --ignore-not-found
				kubectl -n longhorn-system delete deployment csi-attacher csi-snapshotter
				kubectl delete pod user --ignore-not-found`)
		},
	}
}

func alertWords(f *fixture) words {
	return words{
		"explain <name>": "explain " + stray, "orphans delete <name>": "orphans delete --yes " + stray,
		"lhs <name>": "lhs default-engine-image", "<value>": world.EngineImage,
		"watch <name>": "watch upgrade-1", "lhum <name>": "lhum upgrade-1", "pause <name>": "pause upgrade-1",
		"<new name>": "tuesday", "<backup>": "tuesday",
		"<snapshot>": "before-upgrade", "<volume>": "vol-1", "<source>": "vol-1", "<controller>": "im-monitor",
		"<node>": "node-3", "<instance manager>": f.InstanceManager("node-2", v1beta2.DataEngineV1), "<replica>": f.values["replica"],
		"<namespace>": "default", "<pod>": "user",
	}
}

// upgraded has an upgrade, which may have ended.
func upgraded(ctx context.Context, f *fixture) error {
	if f.shell.sh(ctx, "kubectl -n longhorn-system get lhum upgrade-1") == nil {
		return nil
	}
	if err := f.Attach(ctx, "vol-1", "node-1", soon); err != nil {
		return err
	}
	if err := f.WaitRobust(ctx, "vol-1", v1beta2.VolumeRobustnessHealthy, 2*soon); err != nil {
		return err
	}
	return upgrade("longhornio/longhorn-instance-manager:v1.12.2")(ctx, f)
}

// operator is what of the Prometheus Operator the charts and commands need.
const operator = `for kind in ServiceMonitor PrometheusRule Prometheus; do
kubectl apply -f - <<END
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: $(echo ${kind}s | sed s/suss/suses/ | tr A-Z a-z).monitoring.coreos.com}
spec:
  group: monitoring.coreos.com
  scope: Namespaced
  names: {kind: $kind, plural: $(echo ${kind}s | sed s/suss/suses/ | tr A-Z a-z), shortNames: [$(echo $kind | tr A-Z a-z)]}
  versions:
  - {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, x-kubernetes-preserve-unknown-fields: true}}}
END
done
kubectl create namespace monitoring
kubectl wait crd --all --for=condition=Established --timeout=60s`

func monitoring() guide {
	return guide{
		empty: regexp.MustCompile(`^(helm|kubectl (get|label))`),
		prepare: func(ctx context.Context, f *fixture) error {
			if err := f.empty.sh(ctx, operator); err != nil {
				return err
			}
			return installed(ctx, f)
		},
		words: func(*fixture) words {
			return words{"<volume>": "vol-1", "<node>": "node-1", "<controller>": "im-monitor", "<name>": "default"}
		},
	}
}
