package cluster

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"path/filepath"
	"strings"
	"time"

	"k8s.io/client-go/rest"
)

const pollEvery = 20 * time.Millisecond

func (c *Cluster) startEtcd(ctx context.Context) error {
	client := fmt.Sprintf("http://127.0.0.1:%d", c.etcdPorts[0])
	peer := fmt.Sprintf("http://127.0.0.1:%d", c.etcdPorts[1])
	name := filepath.Base(c.dir.path)
	args := append([]string{
		"--name=" + name,
		"--data-dir=" + c.dataDir(),
		"--listen-client-urls=" + client,
		"--advertise-client-urls=" + client,
		"--listen-peer-urls=" + peer,
		"--initial-advertise-peer-urls=" + peer,
		"--initial-cluster=" + name + "=" + peer,
		"--quota-backend-bytes=8589934592",
		"--unsafe-no-fsync",
		"--log-level=warn",
	}, c.options.EtcdFlags...)
	var err error
	if c.etcd, err = startProcess(c.dir.path, "etcd", c.binaries.Etcd, args); err != nil {
		return err
	}
	return c.etcd.waitReady(ctx, func(ctx context.Context) bool {
		answer, ok := ask(ctx, http.DefaultClient, http.MethodPost, client+"/v3/cluster/member/list")
		// Its name, because another cluster may have taken the port a moment ago: that one's etcd answers too.
		return ok && strings.Contains(answer, `"`+name+`"`)
	})
}

// StartAPIServer starts the API server after StopAPIServer and returns when it is ready: same address, same keys, same
// data, and its audit log continues.
func (c *Cluster) StartAPIServer(ctx context.Context) error {
	client, err := rest.HTTPClientFor(c.AdminConfig())
	if err != nil {
		return fmt.Errorf("making the client that asks for readiness: %w", err)
	}
	defer client.CloseIdleConnections()
	if c.apiServer, err = startProcess(c.dir.path, "kube-apiserver", c.binaries.APIServer, c.apiServerFlags()); err != nil {
		return err
	}
	return c.apiServer.waitReady(ctx, func(ctx context.Context) bool {
		return answersOK(ctx, client, c.APIServerURL()+"/readyz")
	})
}

// StopAPIServer kills the API server and leaves etcd running: to every client that is a crash.
func (c *Cluster) StopAPIServer() { c.apiServer.kill() }

func (c *Cluster) apiServerFlags() []string {
	flags := []string{
		fmt.Sprintf("--etcd-servers=http://127.0.0.1:%d", c.etcdPorts[0]),
		"--bind-address=127.0.0.1",
		"--advertise-address=127.0.0.1",
		fmt.Sprintf("--secure-port=%d", c.port),
		"--endpoint-reconciler-type=none",
		"--authorization-mode=RBAC",
		"--anonymous-auth=false",
		"--client-ca-file=" + c.path("pki/ca.crt"),
		"--tls-cert-file=" + c.path("pki/apiserver.crt"),
		"--tls-private-key-file=" + c.path("pki/apiserver.key"),
		"--cert-dir=" + c.path("pki"),
		"--service-account-issuer=https://kubernetes.default.svc.cluster.local",
		"--service-account-key-file=" + c.path("pki/sa.key"),
		"--service-account-signing-key-file=" + c.path("pki/sa.key"),
		"--service-cluster-ip-range=10.96.0.0/16",
		"--allow-privileged=true",
		"--profiling=false",
	}
	if !c.options.ControllerManager {
		// No controller creates the ServiceAccounts that this plugin requires in a pod's namespace.
		flags = append(flags, "--disable-admission-plugins=ServiceAccount")
	}
	if c.options.Audit {
		const megabytes = 1 << 20 // never begin a second file
		flags = append(flags, "--audit-policy-file="+c.path(auditPolicyFile), "--audit-log-path="+c.path(auditLogFile),
			fmt.Sprintf("--audit-log-maxsize=%d", megabytes))
	}
	if c.options.Dial != nil {
		flags = append(flags, "--egress-selector-config-file="+c.path(egressConfigFile))
	}
	return append(flags, c.options.APIServerFlags...)
}

func (c *Cluster) startControllerManager(ctx context.Context) error {
	kubeconfig := c.path("controller-manager.kubeconfig")
	if err := c.writeKubeconfig(kubeconfig, c.certificateConfig(c.keys.controllerManager)); err != nil {
		return err
	}
	args := append([]string{
		"--kubeconfig=" + kubeconfig,
		"--secure-port=0",
		"--leader-elect=false",
		"--use-service-account-credentials",
		"--service-account-private-key-file=" + c.path("pki/sa.key"),
		"--root-ca-file=" + c.path("pki/ca.crt"),
		"--profiling=false",
	}, c.options.ControllerManagerFlags...)
	client, err := rest.HTTPClientFor(c.AdminConfig())
	if err != nil {
		return fmt.Errorf("making the client that asks for readiness: %w", err)
	}
	defer client.CloseIdleConnections()
	c.controllerManager, err = startProcess(c.dir.path, "kube-controller-manager", c.binaries.ControllerManager, args)
	if err != nil {
		return err
	}
	// It opens no port; that it works shows in the ServiceAccount it makes.
	return c.controllerManager.waitReady(ctx, func(ctx context.Context) bool {
		return answersOK(ctx, client, c.APIServerURL()+"/api/v1/namespaces/default/serviceaccounts/default")
	})
}

func answersOK(ctx context.Context, client *http.Client, url string) bool {
	_, ok := ask(ctx, client, http.MethodGet, url)
	return ok
}

// ask sends a request with an empty JSON object and returns the answer, and whether it was a success.
func ask(ctx context.Context, client *http.Client, method, url string) (string, bool) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader("{}"))
	if err != nil {
		return "", false
	}
	response, err := client.Do(request)
	if err != nil {
		return "", false
	}
	defer func() { _ = response.Body.Close() }()
	answer, err := io.ReadAll(response.Body)
	return string(answer), err == nil && response.StatusCode == http.StatusOK
}
