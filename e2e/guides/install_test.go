//go:build !fast

package guides

import (
	"context"
	"path/filepath"
	"regexp"
	"strings"
)

// emptySystem does nothing: the commands bring everything.
func emptySystem(context.Context, *fixture) error { return nil }

// uninstalled ends a release of Helm, so that its name is free.
func uninstalled(release string) func(context.Context, *fixture) error {
	return func(ctx context.Context, f *fixture) error {
		return f.empty.sh(ctx, "helm uninstall "+release+" --namespace longhorn-system")
	}
}

func installing() guide {
	return guide{
		empty: everything, prepare: emptySystem,
		words: func(*fixture) words {
			return words{"sha256:…": "sha256:" + strings.Repeat("a", 64), "<tag>": "v1.11.0"}
		},
		exits: exits{"kubectl create namespace": {1}}, // the page says that it may be there
		before: steps{
			"kubectl label namespace monitoring": func(ctx context.Context, f *fixture) error {
				return f.empty.sh(ctx, "kubectl create namespace monitoring")
			},
			"helm upgrade drover charts/drover --namespace longhorn-system --reset-then-reuse-values --set csi.enabled":              installed,
			"helm upgrade drover charts/drover --namespace longhorn-system --reset-then-reuse-values --set im-monitor.networkPolicy": installed,
			"kubectl delete -k my-cluster": func(ctx context.Context, f *fixture) error {
				return f.empty.sh(ctx, "kubectl apply -k my-cluster")
			},
		},
	}
}

// longhorn is what of an installation of Longhorn the commands name. Nothing runs it: there is no kubelet.
const longhorn = `
kubectl create namespace longhorn-system
kubectl apply --server-side -k crds
kubectl apply -k my-cluster
kubectl -n longhorn-system create configmap drover-instance-manager-images --from-literal=prefixes=registry.example.com/
for d in longhorn-driver-deployer csi-attacher csi-provisioner csi-resizer csi-snapshotter; do
  kubectl -n longhorn-system create deployment $d --image=none
done
kubectl -n longhorn-system create serviceaccount default
kubectl -n longhorn-system run longhorn-manager-gone --image=none
kubectl -n longhorn-system create service clusterip longhorn-backend --tcp=9500
kubectl -n longhorn-system create cronjob daily --image=none --schedule='0 3 * * *'
kubectl -n longhorn-system create poddisruptionbudget csi-attacher --selector=app=csi-attacher --min-available=1
kubectl apply -f - <<'END'
apiVersion: apps/v1
kind: DaemonSet
metadata: {name: longhorn-manager, namespace: longhorn-system}
spec:
  selector: {matchLabels: {app: longhorn-manager}}
  template:
    metadata: {labels: {app: longhorn-manager}}
    spec: {containers: [{name: longhorn-manager, image: none}]}
---
apiVersion: longhorn.io/v1beta2
kind: Setting
metadata: {name: concurrent-automatic-engine-upgrade-per-node-limit, namespace: longhorn-system}
value: "1"
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingWebhookConfiguration
metadata: {name: longhorn-webhook-validator}
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingWebhookConfiguration
metadata: {name: longhorn-webhook-mutator}
END
`

// overlay writes the files of the page about installing.
func overlay(ctx context.Context, f *fixture) error {
	p, err := read(ctx, f.root, "docs/install.md")
	if err != nil {
		return err
	}
	for _, file := range p.files {
		if err := f.write(file); err != nil {
			return err
		}
	}
	return nil
}

// installed installs the charts, in the place of the plain manifests where those are installed: a reader takes one way.
func installed(ctx context.Context, f *fixture) error {
	if err := overlay(ctx, f); err != nil {
		return err
	}
	return f.empty.sh(ctx, `kubectl delete -k my-cluster --ignore-not-found --wait=false
		if helm status drover --namespace longhorn-system; then helm uninstall drover --namespace longhorn-system; fi
		helm install drover charts/drover --namespace longhorn-system --create-namespace --take-ownership --force-conflicts`)
}

// clientOfTheAPI returns the guide of the chart of a client: its commands are three ways of which a reader takes one.
func clientOfTheAPI(chart string) guide {
	without := func(ctx context.Context, f *fixture) error {
		return f.empty.sh(ctx, "helm upgrade drover charts/drover --namespace longhorn-system --reset-then-reuse-values --set "+
			chart+".enabled=false")
	}
	return guide{empty: everything,
		prepare: func(ctx context.Context, f *fixture) error {
			return f.empty.sh(ctx, "helm install drover charts/drover --namespace longhorn-system --create-namespace")
		},
		before: steps{"helm install " + chart: without,
			"kubectl apply -k deploy/" + chart: func(ctx context.Context, f *fixture) error {
				return f.empty.sh(ctx, "helm uninstall "+chart+" --namespace longhorn-system")
			}}}
}

func takingOver() guide {
	return guide{
		empty: everything, prepare: besideLonghorn,
		words: func(f *fixture) words {
			return words{"~/.kube/config": filepath.Join(f.shell.dir, "empty.kubeconfig"), "<name>": "longhorn-manager-gone"}
		},
		exits: exits{"bin/attach-controller --check-take-over": {1}},
	}
}

// besideLonghorn installs the parts of Longhorn and Drover that the commands name.
func besideLonghorn(ctx context.Context, f *fixture) error {
	if err := overlay(ctx, f); err != nil {
		return err
	}
	return f.empty.sh(ctx, "set -e\n"+longhorn)
}

func leaving() guide {
	return guide{
		empty: regexp.MustCompile(`^kubectl (-n|get|delete)`),
		prepare: func(ctx context.Context, f *fixture) error {
			if err := besideLonghorn(ctx, f); err != nil {
				return err
			}
			return f.empty.sh(ctx, `kubectl -n longhorn-system patch daemonset longhorn-manager --type merge -p \
				'{"spec":{"template":{"spec":{"nodeSelector":{"drover.dev/taken-over":"true"}}}}}'`)
		},
		exits: exits{"kubectl get validatingwebhookconfigurations,mutatingwebhookconfigurations drover": {1}}, // none is left
	}
}

func upgradingDrover() guide {
	return guide{
		empty: regexp.MustCompile(`^(helm|kubectl apply|kubectl -n)`), prepare: installed,
		words: func(*fixture) words {
			return words{"sha256:…": "sha256:" + strings.Repeat("a", 64), "<controller>": "im-monitor"}
		},
		before: steps{
			"helm upgrade drover charts/drover --namespace longhorn-system --reset-then-reuse-values --set im-monitor": installed,
		},
	}
}
