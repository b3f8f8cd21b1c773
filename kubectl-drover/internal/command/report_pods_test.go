package command

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/cluster"
	"drover.dev/drover/shared/testkit/kubelet"
)

// controllers are those of which a report has logs and metrics, as their manifests start them.
var controllers = []string{"attach-controller", "im-monitor", "orphan-controller", "snapshot-controller", "upgrade-controller"}

// What the API server reads from kubelets and pods is in the report, without credentials.
func TestAReportHasTheLogsAndMetricsOfEachController(t *testing.T) {
	s := newScenario(t, "common.yaml", "report/objects.yaml")
	s.node("reported", kubelets.Node("10.43.0.1", nil))
	for i, name := range controllers {
		ip := fmt.Sprintf("10.42.0.%d", i+1)
		pod := s.controller(name, "reported", ip, 1)
		log := kubelet.Log{Namespace: s.namespace, Pod: pod.Name, Container: name}
		kubelets.Write(log, "leads now\nconnecting with password=hunter2\n{\"token\":\"hunter2\",\"node\":\"node-1\"}\nvolume vol-1 attached\n")
		log.Previous = true
		kubelets.Write(log, "panic: Authorization: Bearer hunter2hunter2\n")
		ports := pod.Spec.Containers[0].Ports
		at := slices.IndexFunc(ports, func(port corev1.ContainerPort) bool { return port.Name == "metrics" })
		require.GreaterOrEqual(t, at, 0, name)
		kubelets.Pod(fmt.Sprintf("%s:%d", ip, ports[at].ContainerPort), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = fmt.Fprintf(w, "of{path=%q,controller=%q,access_key=\"hunter2\"} 1\n", r.URL.Path, name)
		}))
	}
	s = s.allowed("report")
	file := filepath.Join(t.TempDir(), "report.zip")
	got := s.run("report", "--file", file)
	require.Equal(t, ExitWell, got.code, got.err)

	files := withoutCredentials(t, file)
	for _, name := range controllers {
		log := files["logs/"+name+"-1/"+name+".log"]
		require.Contains(t, log, "leads now\n", name)
		require.Contains(t, log, `"node":"node-1"`, name)
		require.Contains(t, log, "volume vol-1 attached\n", name)
		require.Contains(t, files["logs/"+name+"-1/"+name+".previous.log"], "panic: ", name)
		require.Contains(t, files["metrics/"+name+"-1.txt"], `of{path="/metrics",controller="`+name+`"`)
		require.NotContains(t, files["left-out.txt"], name+"-1")
	}
	require.Contains(t, files["objects/pods.yaml"], "name: upgrade-controller-1")
}

// A node that is off costs one wait, and the pods of others are read all the same.
func TestAKubeletThatDoesNotAnswerIsNamedAndNotAskedAgain(t *testing.T) {
	s := newScenario(t, "common.yaml")
	asked := make(chan struct{})
	s.node("silent", kubelets.Node("10.43.0.2", http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		asked <- struct{}{}
		<-r.Context().Done()
	})))
	s.node("unreachable", corev1.NodeStatus{Addresses: []corev1.NodeAddress{{Type: corev1.NodeInternalIP, Address: "10.43.0.3"}}})
	s.node("answering", kubelets.Node("10.43.0.4", nil))
	for name, node := range map[string]string{"attach-controller": "silent", "im-monitor": "silent", "orphan-controller": "unreachable",
		"upgrade-controller": "answering"} {
		pod := s.controller(name, node, "10.42.1.1", 0)
		kubelets.Write(kubelet.Log{Namespace: s.namespace, Pod: pod.Name, Container: name}, "leads now\n")
	}
	s.within = func(ctx context.Context) (context.Context, context.CancelFunc) { // too long is when the silent kubelet was asked
		ctx, cancel := context.WithCancel(ctx)
		go func() {
			select {
			case <-asked:
				cancel()
			case <-ctx.Done():
			}
		}()
		return ctx, cancel
	}
	file := filepath.Join(t.TempDir(), "report.zip")
	got := s.run("report", "--file", file)
	require.Equal(t, ExitWell, got.code, got.err)

	files := withoutCredentials(t, file)
	require.Equal(t, "leads now\n", files["logs/upgrade-controller-1/upgrade-controller.log"])
	for _, line := range []string{
		"logs/attach-controller-1/attach-controller.log: reading the log of pod attach-controller-1",
		"logs/im-monitor-1/im-monitor.log: the kubelet of node silent did not answer before\n",
		"metrics/im-monitor-1.txt: the kubelet of node silent did not answer before\n",
		"logs/orphan-controller-1/orphan-controller.log: reading the log of pod orphan-controller-1",
	} {
		require.Contains(t, files["left-out.txt"], line)
		require.Contains(t, got.err, "left out: "+line)
	}
}

// node creates a node of Kubernetes; its name is used by one test alone.
func (s *scenario) node(name string, status corev1.NodeStatus) {
	s.t.Helper()
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	require.NoError(s.t, testkit.Admin(s.t).Create(s.t.Context(), node))
	node.Status = status
	require.NoError(s.t, testkit.Admin(s.t).Status().Update(s.t.Context(), node))
}

// controller creates the pod of a controller as its manifest has it, and its status as a kubelet writes it.
func (s *scenario) controller(name, node, ip string, restarts int32) *corev1.Pod {
	s.t.Helper()
	root, err := cluster.ModuleRoot()
	require.NoError(s.t, err)
	text, err := os.ReadFile(filepath.Join(root, name, "deploy", "deployment.yaml"))
	require.NoError(s.t, err)
	var deployment appsv1.Deployment
	require.NoError(s.t, yaml.Unmarshal(text, &deployment))
	template := deployment.Spec.Template
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: name + "-1", Namespace: s.namespace, Labels: template.Labels,
		Annotations: map[string]string{"example.com/token": "hunter2"}}, Spec: template.Spec}
	pod.Spec.NodeName = node
	require.NoError(s.t, testkit.Admin(s.t).Create(s.t.Context(), pod))
	pod.Status = corev1.PodStatus{Phase: corev1.PodRunning, PodIP: ip, PodIPs: []corev1.PodIP{{IP: ip}},
		ContainerStatuses: []corev1.ContainerStatus{{Name: name, RestartCount: restarts}}}
	require.NoError(s.t, testkit.Admin(s.t).Status().Update(s.t.Context(), pod))
	return pod
}
