package cluster

import (
	"context"
	"fmt"

	authenticationv1 "k8s.io/api/authentication/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
)

const tokenSeconds = 24 * 60 * 60

// AdminConfig returns access as a member of system:masters, to whom everything is allowed.
func (c *Cluster) AdminConfig() *rest.Config { return c.certificateConfig(c.keys.admin) }

// TokenConfig returns access with a token from Token.
func (c *Cluster) TokenConfig(token string) *rest.Config {
	config := c.config()
	config.BearerToken = token
	return config
}

// Token returns a token of a ServiceAccount that exists, good for a day.
func (c *Cluster) Token(ctx context.Context, namespace, serviceAccount string) (string, error) {
	return c.token(ctx, namespace, serviceAccount, nil)
}

// PodToken returns a token of a pod's ServiceAccount as the kubelet gets it for the pod: it names the pod and its node.
func (c *Cluster) PodToken(ctx context.Context, pod *corev1.Pod) (string, error) {
	return c.token(ctx, pod.Namespace, pod.Spec.ServiceAccountName, pod)
}

func (c *Cluster) token(ctx context.Context, namespace, serviceAccount string, pod *corev1.Pod) (string, error) {
	clients, err := kubernetes.NewForConfig(c.AdminConfig())
	if err != nil {
		return "", fmt.Errorf("making a client: %w", err)
	}
	seconds := int64(tokenSeconds)
	request := &authenticationv1.TokenRequest{Spec: authenticationv1.TokenRequestSpec{ExpirationSeconds: &seconds}}
	if pod != nil {
		request.Spec.BoundObjectRef = &authenticationv1.BoundObjectReference{APIVersion: "v1", Kind: "Pod", Name: pod.Name, UID: pod.UID}
	}
	answer, err := clients.CoreV1().ServiceAccounts(namespace).
		CreateToken(ctx, serviceAccount, request, metav1.CreateOptions{})
	if err != nil {
		return "", fmt.Errorf("requesting a token of ServiceAccount %s/%s: %w", namespace, serviceAccount, err)
	}
	return answer.Status.Token, nil
}

// AdminKubeconfig writes a kubeconfig with the access of AdminConfig.
func (c *Cluster) AdminKubeconfig(path string) error { return c.writeKubeconfig(path, c.AdminConfig()) }

// TokenKubeconfig writes a kubeconfig with a token from Token.
func (c *Cluster) TokenKubeconfig(path, token string) error {
	return c.writeKubeconfig(path, c.TokenConfig(token))
}

func (c *Cluster) config() *rest.Config {
	return &rest.Config{
		Host:            c.APIServerURL(),
		TLSClientConfig: rest.TLSClientConfig{CAData: c.CAData()},
		QPS:             -1, // the server's priority and fairness is the only limit
	}
}

func (c *Cluster) certificateConfig(pair keyPair) *rest.Config {
	config := c.config()
	config.CertData, config.KeyData = pair.cert, pair.key
	return config
}

func (c *Cluster) writeKubeconfig(path string, config *rest.Config) error {
	const name = "drover"
	file := clientcmdapi.NewConfig()
	file.Clusters[name] = &clientcmdapi.Cluster{Server: config.Host, CertificateAuthorityData: config.CAData}
	file.AuthInfos[name] = &clientcmdapi.AuthInfo{
		ClientCertificateData: config.CertData, ClientKeyData: config.KeyData, Token: config.BearerToken,
	}
	file.Contexts[name] = &clientcmdapi.Context{Cluster: name, AuthInfo: name}
	file.CurrentContext = name
	if err := clientcmd.WriteToFile(*file, path); err != nil {
		return fmt.Errorf("writing a kubeconfig: %w", err)
	}
	return nil
}
