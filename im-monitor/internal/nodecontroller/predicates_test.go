package nodecontroller

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/cachetransform"
	"drover.dev/drover/im-monitor/internal/node"
	"drover.dev/drover/im-monitor/internal/setting"
	"drover.dev/drover/im-monitor/internal/settingcontroller"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/testkit"
	"drover.dev/drover/shared/testkit/shell"
)

// whole is a Node in which each field that a decision may read has a value.
func whole() *v1beta2.Node {
	ready := []v1beta2.Condition{{Type: v1beta2.DiskReady, Status: v1beta2.ConditionTrue}}
	n := &v1beta2.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1", Finalizers: []string{v1beta2.Finalizer}}}
	n.Spec = v1beta2.NodeSpec{Name: "node-1", AllowScheduling: true, Disks: map[string]v1beta2.DiskSpec{
		"files": {DiskType: "filesystem", Path: "/var/lib/longhorn"}, "fast": {DiskType: v1beta2.DiskTypeBlock}}}
	n.Status.DiskStatus = map[string]v1beta2.DiskStatus{
		"files": {Conditions: ready, StorageAvailable: 5 << 30, StorageMaximum: 9 << 30},
		"fast":  {Conditions: ready, StorageAvailable: 5 << 30, StorageMaximum: 9 << 30}}
	w := node.World{Now: time.Unix(0, 0), Name: n.Name, Node: n, Kubernetes: &node.Kubernetes{Ready: true}, Settings: setting.Defaults()}
	s := node.Decide(w).Status
	n.Status.Conditions, n.Status.Region, n.Status.Zone = s.Conditions, s.Region, s.Zone
	n.Status.DisksReady, n.Status.Storage, n.Status.AutoEvicting = s.DisksReady, s.Storage, s.AutoEvicting
	return n
}

// fields calls f with a way to change each field below a value: another value of a leaf, one entry more or fewer of a map or list.
func fields(path string, v reflect.Value, f func(path string, change func())) {
	switch v.Kind() {
	case reflect.String:
		f(path, func() { v.SetString(v.String() + "x") })
	case reflect.Bool:
		f(path, func() { v.SetBool(!v.Bool()) })
	case reflect.Int, reflect.Int32, reflect.Int64:
		f(path, func() { v.SetInt(v.Int() + 1<<31) })
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				fields(path+"."+v.Type().Field(i).Name, v.Field(i), f)
			}
		}
	case reflect.Slice:
		if v.Len() > 0 {
			f(path+"[-]", func() { v.SetLen(v.Len() - 1) })
		}
		for i := range v.Len() {
			fields(fmt.Sprintf("%s[%d]", path, i), v.Index(i), f)
		}
	case reflect.Map:
		f(path+"[-]", func() { v.SetZero() })
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, key := range keys {
			f(path+"[-"+key.String()+"]", func() { v.SetMapIndex(key, reflect.Value{}) })
			entry := reflect.New(v.Type().Elem()).Elem()
			entry.Set(v.MapIndex(key))
			fields(path+"["+key.String()+"]", entry, func(path string, change func()) {
				f(path, func() { change(); v.SetMapIndex(key, entry) })
			})
		}
	}
}

// change is one change of a field.
type change struct {
	path  string
	apply func()
}

// changes returns a change of each field of a Node, always in the same order. Its name and its UID do not change.
func changes(n *v1beta2.Node) (out []change) {
	add := func(path string, apply func()) { out = append(out, change{path, apply}) }
	fields(".Finalizers", reflect.ValueOf(&n.Finalizers).Elem(), add)
	fields(".Spec", reflect.ValueOf(&n.Spec).Elem(), add)
	fields(".Status", reflect.ValueOf(&n.Status).Elem(), add)
	return out
}

// K5: a change that changes the decision enqueues the Node, whichever field it is in.
func TestEachFieldOfANodeThatADecisionReadsEnqueuesIt(t *testing.T) {
	decide := func(n *v1beta2.Node) node.Verdict {
		return node.Decide(node.World{Now: time.Unix(0, 0), Name: n.Name, Node: n, Kubernetes: &node.Kubernetes{Ready: true},
			Settings: setting.Defaults()})
	}
	require.Nil(t, decide(whole()).Status, "nothing is to be written")
	read := map[string]bool{}
	for i := range changes(whole()) {
		before, after := whole(), whole()
		change := changes(after)[i]
		change.apply()
		if !reflect.DeepEqual(decide(before), decide(after)) {
			read[change.path] = true
			require.True(t, kube.DeepChanged(nodeFacts, before, after), "%s decides, and its change enqueues nothing", change.path)
		}
	}
	for _, path := range []string{".Status.DiskStatus[fast].StorageAvailable", ".Status.DiskStatus[files].StorageMaximum",
		".Status.DiskStatus[fast].Conditions[0].Status", ".Spec.Disks[-files]", ".Status.DisksReady", ".Status.Storage",
		".Status.DiskStatus[-]", ".Status.AutoEvicting"} {
		require.Contains(t, read, path, "the test does not reach it")
	}
}

// K5, on a real API server: the columns follow the status of the disks, of v1 disks as well.
func TestTheColumnsOfANodeFollowTheStatusOfItsDisks(t *testing.T) {
	admin, namespace := testkit.Admin(t), testkit.Namespace(t)
	k := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "columns-" + namespace}}
	require.NoError(t, admin.Create(t.Context(), k))
	t.Cleanup(func() { require.NoError(t, client.IgnoreNotFound(admin.Delete(context.Background(), k))) })
	n := &v1beta2.Node{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: k.Name}, Spec: v1beta2.NodeSpec{
		Disks: map[string]v1beta2.DiskSpec{"files": {DiskType: "filesystem", Path: "/var/lib/longhorn"}}}}
	require.NoError(t, admin.Create(t.Context(), n))
	p := shell.Start(t, shell.Options{Identity: testkit.BinaryIdentity(t, namespace, "im-monitor"), Namespace: namespace, Owner: fieldOwner,
		Cache: cachetransform.Cache()}, func(ctx context.Context, rt *runkit.Runtime) error {
		return Setup(ctx, rt, settingcontroller.NewSource(rt.Client, rt.Namespace, setting.Pods{}))
	})
	t.Cleanup(func() { p.Stop(); require.NoError(t, p.Wait()) })
	shows := func(ready, storage string) {
		t.Helper()
		require.Eventually(t, func() bool {
			require.NoError(t, admin.Get(t.Context(), client.ObjectKeyFromObject(n), n))
			return n.Status.DisksReady == ready && n.Status.Storage == storage
		}, time.Minute, testkit.Poll, "%+v", n.Status)
	}
	shows("0/1", "0Gi/0Gi")
	measure := func(available string) {
		t.Helper()
		body := `{"status":{"diskStatus":{"files":{"storageMaximum":10737418240,"storageAvailable":` + available +
			`,"conditions":[{"type":"Ready","status":"True"}]}}}}`
		require.NoError(t, admin.Status().Patch(t.Context(), n, client.RawPatch("application/merge-patch+json", []byte(body))))
	}
	measure("8589934592")
	shows("1/1", "8Gi/10Gi")
	measure("2147483648")
	shows("1/1", "2Gi/10Gi")
}
