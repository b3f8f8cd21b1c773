package world

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"strings"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/e2e/record"
)

// identityKinds are the kinds of a deploy directory that make up an identity, and the policies that bound it. The Deployment
// is not among them: the World runs the processes itself.
var identityKinds = map[string]bool{
	"ServiceAccount": true, "Role": true, "ClusterRole": true, "RoleBinding": true, "ClusterRoleBinding": true, "Lease": true,
	"Secret": true, "ValidatingAdmissionPolicy": true, "ValidatingAdmissionPolicyBinding": true,
}

// Install creates the identity of a controller from its deploy directory, exactly as a user would apply it.
func (w *World) Install(ctx context.Context, controller string) error {
	root, err := root(ctx, w.options.Sources[controller])
	if err != nil {
		return err
	}
	return w.installAll(ctx, filepath.Join(root, controller, "deploy"))
}

// InstallIdentities creates the accounts and rights that a directory of this module has, exactly as a user would apply them.
func (w *World) InstallIdentities(ctx context.Context, dir string) error {
	root, err := root(ctx, "")
	if err != nil {
		return err
	}
	return w.installAll(ctx, filepath.Join(root, dir))
}

// installAll installs what a directory has of identities and policies.
func (w *World) installAll(ctx context.Context, dir string) error {
	return w.forAll(ctx, dir, w.install)
}

// forAll calls a function for each object of a directory that is an identity or a policy.
func (w *World) forAll(ctx context.Context, dir string, call func(context.Context, *unstructured.Unstructured) error) error {
	return filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || filepath.Ext(path) != ".yaml" {
			return err
		}
		return eachObject(ctx, path, call)
	})
}

func eachObject(ctx context.Context, path string, call func(context.Context, *unstructured.Unstructured) error) error {
	content, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("reading a manifest: %w", err)
	}
	decoder := utilyaml.NewYAMLOrJSONDecoder(strings.NewReader(string(content)), 4096)
	for {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(object); err != nil {
			if errors.Is(err, io.EOF) {
				return nil
			}
			return fmt.Errorf("reading %s: %w", path, err)
		}
		if !identityKinds[object.GetKind()] {
			continue
		}
		if err := call(ctx, object); err != nil {
			return fmt.Errorf("%s %s of %s: %w", object.GetKind(), object.GetName(), path, err)
		}
	}
}

// install creates the object. Rules that a kept population has from an earlier version are updated. A binding's role is immutable,
// so a binding with another role is created again.
func (w *World) install(ctx context.Context, object *unstructured.Unstructured) error {
	rules, bound := object.Object["rules"], object.Object["roleRef"]
	made := object.DeepCopy()
	err := w.Admin.Create(ctx, made)
	switch {
	case err == nil || !apierrors.IsAlreadyExists(err):
		return err
	case rules != nil:
		return w.patch(ctx, object, map[string]any{"rules": rules})
	case bound == nil:
		return nil
	}
	if err := w.Admin.Get(ctx, client.ObjectKeyFromObject(object), made); err != nil || reflect.DeepEqual(made.Object["roleRef"], bound) {
		return err
	}
	if err := w.Admin.Delete(ctx, made); err != nil {
		return err
	}
	return w.Admin.Create(ctx, object)
}

// Token returns a token of a ServiceAccount that is valid for longer than the run.
func (w *World) Token(ctx context.Context, account string) (string, error) {
	return w.token(ctx, account, nil)
}

// AccountKubeconfig writes the kubeconfig of a process that runs as a ServiceAccount, and returns its path.
func (w *World) AccountKubeconfig(ctx context.Context, account string) (string, error) {
	path, _, err := w.kubeconfig(ctx, account, "", nil)
	return path, err
}

// token requests a token of the ServiceAccount from the API server that is valid for longer than the run. With a pod it names the pod and
// its node, as the token that a kubelet gets for it.
func (w *World) token(ctx context.Context, account string, pod *corev1.Pod) (string, error) {
	hours := int64(24 * 3600)
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &hours}}
	if pod != nil {
		request.Spec.BoundObjectRef = &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID}
	}
	object := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: account, Namespace: w.Namespace}}
	if err := w.Admin.SubResource("token").Create(ctx, object, request); err != nil {
		return "", fmt.Errorf("requesting a token of %s: %w", account, err)
	}
	return request.Status.Token, nil
}

// kubeconfig writes the file with which one process of the account reaches the API server, through the recorder if there is one. Each
// process has its own token.
func (w *World) kubeconfig(ctx context.Context, account, instance string, pod *corev1.Pod) (path, tokenID string, err error) {
	token, err := w.token(ctx, account, pod)
	if err != nil {
		return "", "", err
	}
	config := &rest.Config{Host: w.Config.Host, TLSClientConfig: rest.TLSClientConfig{CAData: w.Config.CAData}}
	if w.API != nil {
		config.Host, config.CAData = w.API.URL(), w.API.CA()
	}
	path = filepath.Join(w.Dir, account+instance+".kubeconfig")
	file := clientcmdapi.NewConfig()
	file.Clusters["drover"] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	file.AuthInfos[account] = &clientcmdapi.AuthInfo{Token: token}
	file.Contexts["drover"] = &clientcmdapi.Context{Cluster: "drover", AuthInfo: account, Namespace: w.Namespace}
	file.CurrentContext = "drover"
	if err := clientcmd.WriteToFile(*file, path); err != nil {
		return "", "", fmt.Errorf("writing the kubeconfig of %s: %w", account+instance, err)
	}
	return path, record.TokenID(token), nil
}
