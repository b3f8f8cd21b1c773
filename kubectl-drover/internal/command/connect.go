package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"k8s.io/client-go/tools/clientcmd/api"

	"drover.dev/drover/kubectl-drover/internal/cluster"
	"drover.dev/drover/kubectl-drover/internal/terminal"
	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// slowAfter is when a person at a terminal is shown that the API server was asked.
const slowAfter = time.Second

// findRead is what finding the namespace uses; a command that is given -n does not.
var findRead = cluster.LeasesEverywhere.Otherwise(
	"without -n, the namespace is found only if it is that of the kubeconfig or " + v1beta2.DefaultNamespace +
		", where leases can be listed")

// rightsOf returns the rights of reads, each once, and those of finding the namespace.
func rightsOf(reads ...cluster.Read) []cluster.Right {
	var rights []cluster.Right
	seen := map[cluster.Right]bool{}
	for _, read := range reads {
		if !seen[read.Right] {
			seen[read.Right] = true
			rights = append(rights, read.Right)
		}
	}
	return append(rights, findRead.Right)
}

// connect returns a client for the namespace of -n, or for the one with Drover.
func (f *Frame) connect(ctx context.Context) (*cluster.Client, error) {
	if err := f.checkOutput(); err != nil {
		return nil, err
	}
	config, err := f.Kube.ToRESTConfig()
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig: %w; check with: %s", err,
			(&world.World{Connection: f.connection()}).Suggest("kubectl config get-contexts", nil))
	}
	kubeconfig := f.Kube.ToRawKubeConfigLoader()
	if raw, err := kubeconfig.RawConfig(); err == nil && api.IsConfigEmpty(&raw) && strings.HasSuffix(config.Host, "localhost:8080") {
		return nil, errors.New("there is no kubeconfig: KUBECONFIG is not set or names no file, and ~/.kube/config does not exist; " +
			"set KUBECONFIG, or give --kubeconfig")
	}
	config.UserAgent = "kubectl-drover"
	client, err := cluster.Connect(config, *f.Kube.Namespace, f.Now())
	if err != nil {
		return nil, err
	}
	if client.Connection = f.connection(); client.Namespace != "" {
		return client, nil
	}
	current, _, err := kubeconfig.Namespace()
	if err != nil {
		return nil, fmt.Errorf("reading the kubeconfig's namespace: %w; name the one with Drover with -n", err)
	}
	candidates := []string{v1beta2.DefaultNamespace}
	if current != "" && current != v1beta2.DefaultNamespace {
		candidates = append([]string{current}, candidates...)
	}
	client.Namespace, err = client.Find(ctx, candidates...)
	return client, err
}

// suggest returns a command to type next, for the cluster, the access and the namespace that were given. No namespace may be known yet.
func (f *Frame) suggest(command string) string {
	w := &world.World{Namespace: *f.Kube.Namespace, Connection: f.connection()}
	if w.Namespace != "" {
		command += " -n {ns}"
	}
	return w.Suggest(command, nil)
}

// connection returns the flags that were given to reach the cluster, and as whom, for commands that are suggested. A password or token is
// not among them.
func (f *Frame) connection() []string {
	var words []string
	for _, flag := range []struct {
		name  string
		value *string
	}{
		{"--kubeconfig", f.Kube.KubeConfig}, {"--context", f.Kube.Context}, {"--cluster", f.Kube.ClusterName}, {"--user", f.Kube.AuthInfoName},
		{"--server", f.Kube.APIServer}, {"--as", f.Kube.Impersonate}, {"--as-uid", f.Kube.ImpersonateUID},
	} {
		if flag.value != nil && *flag.value != "" {
			words = append(words, flag.name, *flag.value)
		}
	}
	if f.Kube.ImpersonateGroup != nil {
		for _, group := range *f.Kube.ImpersonateGroup {
			words = append(words, "--as-group", group)
		}
	}
	return words
}

// read reads into w; a person at a terminal is shown when it takes long.
func (f *Frame) read(ctx context.Context, client *cluster.Client, w *world.World, reads ...cluster.Read) error {
	if terminal.IsTerminal(f.Streams.ErrOut) {
		notice := time.AfterFunc(slowAfter, func() {
			_, _ = fmt.Fprintf(f.Streams.ErrOut, "waiting for the API server: %d lists in namespace %s\n", len(reads), client.Namespace)
		})
		defer notice.Stop()
	}
	return client.Read(ctx, w, reads...)
}
