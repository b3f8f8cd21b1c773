package finding

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit/cluster"
)

// A reason that is new in the table of the API has no meaning for the plugin until it has a rule here.
func TestEveryReasonHasOneRuleAndNoRuleIsLeftOver(t *testing.T) {
	left := table()
	for _, contract := range v1beta2.ConditionContracts() {
		kind := contract.Kind
		if contract.Part == "status.diskStatus" {
			kind = Disk
		}
		for _, reason := range append(append([]string{}, contract.True...), contract.False...) {
			require.Contains(t, table(), key{kind, contract.Type, reason})
			delete(left, key{kind, contract.Type, reason})
		}
	}
	require.Empty(t, left, "rules of reasons that no condition has")
}

func TestAReasonIsListedOnceForItsCondition(t *testing.T) {
	for _, part := range [][]of{attaching(), instances(), nodes(), snapshots(), orphans(), upgrades()} {
		for _, one := range part {
			seen := map[string]bool{}
			for _, reason := range strings.Fields(strings.Join([]string{one.well, one.continues, one.info, one.warning, one.critical},
				" ")) {
				require.False(t, seen[reason], "%s %s %s", one.kinds, one.condition, reason)
				seen[reason] = true
			}
			for reason := range one.commands {
				require.True(t, seen[reason], "%s %s has a command for %s, which it does not list", one.kinds, one.condition, reason)
			}
		}
	}
}

// What to do stands in one place, the guide, and a rule that names a guide must lead to it.
func TestTheGuideOfARuleExplainsItsReason(t *testing.T) {
	root, err := cluster.SourceRoot()
	require.NoError(t, err)
	pages := map[string]string{}
	for k, rule := range table() {
		if rule.Severity == Well {
			require.Empty(t, rule.Command, "%v", k)
			continue
		}
		require.NotEmpty(t, rule.Command, "%v", k)
		if pages[rule.Guide] == "" {
			text, err := os.ReadFile(filepath.Join(root, rule.Guide))
			require.NoError(t, err)
			pages[rule.Guide] = string(text)
		}
		require.True(t, strings.Contains(pages[rule.Guide], "`"+k.reason+"`"), "%s has nothing on %s of %s %s", rule.Guide, k.reason, k.kind,
			k.condition)
	}
}

func TestAReasonOfANewerControllerMeansWait(t *testing.T) {
	require.Equal(t, Rule{Severity: Continues}, RuleOf("Volume", v1beta2.VolumeAttached, "SomethingOfTomorrow"))
}

func TestARenamedReasonHasTheRuleOfItsPresentName(t *testing.T) {
	require.Equal(t, RuleOf("Snapshot", v1beta2.SnapshotReady, "Lost"), RuleOf("Snapshot", v1beta2.SnapshotReady, "Missing"))
}

// People type what is suggested, and scripts run it: what removes data or an instance is a decision, and not among it.
func TestNoRuleSuggestsToDelete(t *testing.T) {
	for k, rule := range table() {
		require.NotContains(t, rule.Command, "delete", "%v", k)
		if k.kind == "Orphan" && rule.Severity != Well && !slices.Contains([]string{showManagers, showNode, "kubectl -n {ns} get lhe,lhr,lhv"},
			rule.Command) {
			require.Equal(t, explainOrphan, rule.Command, "%v", k)
		}
	}
}

// A failed node is tried again by its DataEngineUpgradeManager: its own spec never changes.
func TestTheRemedyForAnUpgradeIsToResumeItsManager(t *testing.T) {
	w := &world.World{Namespace: "longhorn-system"}
	node := &v1beta2.NodeDataEngineUpgrade{Spec: v1beta2.NodeDataEngineUpgradeSpec{NodeID: "node-1", DataEngineUpgradeManager: "upgrade-1"}}
	manager := &v1beta2.DataEngineUpgradeManager{}
	node.Name, manager.Name = "upgrade-1-node-1", "upgrade-1"
	for _, reason := range []string{v1beta2.ReasonUpgradeBlocked, v1beta2.ReasonNodeFailed} {
		stored := []v1beta2.Condition{{Type: v1beta2.UpgradeCompleted, Status: v1beta2.ConditionFalse, Reason: reason}}
		node.Status.Conditions, manager.Status.Conditions = stored, stored
		for _, found := range [][]Finding{NodeUpgrade(w, node), Upgrade(w, manager)} {
			require.Equal(t, "kubectl drover upgrade resume upgrade-1 -n longhorn-system", found[0].Command, "%s %s", found[0].Object, reason)
		}
	}
}

// A command without the name that it needs is about all objects.
func TestARuleWithoutTheNameThatItNeedsSuggestsNothing(t *testing.T) {
	w := &world.World{Namespace: "longhorn-system"}
	ref := Ref{"VolumeAttachment", "vol-1"}
	require.Equal(t, "kubectl uncordon node-1", Expand("kubectl uncordon {node}", ref, ofVolume(w, "vol-1", "node-1")))
	for _, node := range []string{"", "--all", "node 1", "$(id)"} {
		require.Empty(t, Expand("kubectl uncordon {node}", ref, ofVolume(w, "vol-1", node)), node)
	}
}

// The image may be given by its digest, and the controller may run outside Kubernetes.
func TestTheVersionIsWhatTheLeaderWrote(t *testing.T) {
	holder, duration := "host_1111", int32(15)
	now := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	w := &world.World{Namespace: "longhorn-system", Now: now}
	w.Leases.Items = []coordinationv1.Lease{{
		ObjectMeta: metav1.ObjectMeta{Namespace: "longhorn-system", Name: "drover-im-monitor", Labels: map[string]string{
			"app.kubernetes.io/version": "0.2.0", "drover.dev/contracts": "1_2"}},
		Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder, RenewTime: &metav1.MicroTime{Time: now}, LeaseDurationSeconds: &duration}}}
	w.Deployments.Items = []appsv1.Deployment{{ObjectMeta: metav1.ObjectMeta{Namespace: "longhorn-system", Name: "im-monitor"}}}
	w.Deployments.Items[0].Spec.Template.Spec.Containers = []corev1.Container{{Image: "drover/im-monitor:v0.3.0"}}
	leads := Controllers(w)[1]
	require.Equal(t, "0.2.0", leads.Version)
	require.Equal(t, []string{"1", "2"}, leads.Contracts)

	w.Now = now.Add(time.Minute)
	ended := Controllers(w)[1]
	require.Empty(t, ended.Leader)
	require.Equal(t, "v0.3.0", ended.Version, "what the last leader was says nothing about the next one")
	require.Empty(t, ended.Contracts)
}

// An image that is given by its digest says no version.
func TestTheVersionIsTheTagOrTheLabel(t *testing.T) {
	labels := map[string]string{"app.kubernetes.io/version": "0.4.0"}
	for image, want := range map[string]string{"r/drover:0.3.1": "0.3.1", "r:5000/drover:0.3.1@sha256:ab": "0.3.1",
		"r:5000/drover@sha256:ab": "0.4.0",
		"r:5000/drover":           "0.4.0"} {
		require.Equal(t, want, versionOf(labels, []corev1.Container{{Image: image}}), image)
	}
	require.Equal(t, "sha256:ab", versionOf(nil, []corev1.Container{{Image: "drover@sha256:ab"}}))
	require.Equal(t, "latest", versionOf(nil, []corev1.Container{{Image: "drover"}}))
}
