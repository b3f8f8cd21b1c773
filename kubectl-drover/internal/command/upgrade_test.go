package command

import (
	"bytes"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit"
)

func (s *scenario) upgrade(name string) *v1beta2.DataEngineUpgradeManager {
	s.t.Helper()
	u := &v1beta2.DataEngineUpgradeManager{}
	require.NoError(s.t, testkit.Admin(s.t).Get(s.t.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, u))
	return u
}

// setUpgrade writes the status of an upgrade, as upgrade-controller does.
func (s *scenario) setUpgrade(name string, change func(*v1beta2.DataEngineUpgradeManagerStatus)) {
	s.t.Helper()
	u := s.upgrade(name)
	u.Status.ObservedGeneration = u.Generation
	change(&u.Status)
	require.NoError(s.t, testkit.Admin(s.t).Status().Update(s.t.Context(), u))
}

func TestAnUpgradeIsPlannedWithoutBeginningIt(t *testing.T) {
	s := newScenario(t, "common.yaml", "upgrade/objects.yaml").allowed("upgrade plan")
	got := s.run("upgrade", "plan")
	require.Empty(t, got.err)
	require.Equal(t, ExitWell, got.code)
	s.golden("upgrade/plan.txt", got.out)
	manifest := regexp.MustCompile(`<<< '(.*)'`).FindStringSubmatch(s.run("upgrade", "plan", "--nodes", "node-2", "--skip-volumes", "pair-u").out)
	require.Empty(t, manifest, "what is blocked is not begun")
	manifest = regexp.MustCompile(`<<< '(.*)'`).FindStringSubmatch(s.run("upgrade", "plan", "--nodes", "node-2,node-1").out)
	require.Len(t, manifest, 2)
	asked := &v1beta2.DataEngineUpgradeManager{}
	require.NoError(t, json.Unmarshal([]byte(manifest[1]), asked))
	asked.Namespace = s.namespace
	require.NoError(t, testkit.Admin(t).Create(t.Context(), asked, client.DryRunAll), "the suggested object is accepted")
	require.Equal(t, []string{"node-2", "node-1"}, asked.Spec.Nodes)

	for _, object := range s.objects("upgrade/blocked.yaml") {
		s.create(object)
	}
	got = s.run("upgrade", "plan")
	require.Equal(t, ExitWarning, got.code)
	s.golden("upgrade/blocked.txt", got.out)
	s.golden("upgrade/blocked.json", s.run("upgrade", "plan", "--nodes", "node-2,node-9", "-o", "json").out)
	require.Equal(t, "node.longhorn.io/node-1\nnode.longhorn.io/node-2\n", s.run("upgrade", "plan", "-o", "name").out)

	got = s.run("upgrade", "watch")
	require.Equal(t, ExitFailed, got.code)
	require.Contains(t, got.err, "cannot list nodedataengineupgrades.longhorn.io")
}

// onWrite calls a function after each write.
type onWrite struct {
	bytes.Buffer
	after func()
}

func (w *onWrite) Write(p []byte) (int, error) {
	n, err := w.Buffer.Write(p)
	w.after()
	return n, err
}

func TestAnUpgradeIsWatchedUntilItEnds(t *testing.T) {
	s := newScenario(t, "upgrade/running.yaml").allowed("upgrade watch")
	for _, end := range []struct {
		state string
		code  int
	}{{v1beta2.UpgradeStateCompleted, ExitWell}, {v1beta2.UpgradeStateError, ExitWarning}} {
		t.Run(end.state, func(t *testing.T) {
			s.setUpgrade("upgrade-1", func(status *v1beta2.DataEngineUpgradeManagerStatus) {
				status.State, status.Progress, status.UpgradingNode = v1beta2.UpgradeStateUpgrading, "1/2", "node-2"
			})
			var shown, out onWrite
			shown.after = func() {}
			out.after = func() {
				if strings.Contains(out.String(), "volume pair-u: moving") && s.upgrade("upgrade-1").Status.State == v1beta2.UpgradeStateUpgrading {
					s.setUpgrade("upgrade-1", func(status *v1beta2.DataEngineUpgradeManagerStatus) {
						status.State, status.UpgradingNode = end.state, ""
						status.UpgradeNodes = map[string]v1beta2.UpgradeNodeStatus{"node-1": {State: "completed"}, "node-2": {State: end.state}}
					})
				}
			}
			frame := NewFrame(genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &shown})
			frame.Now = func() time.Time { return noon }
			code := frame.Run(t.Context(), "0.0.0-test", []string{"upgrade", "watch", "upg", "-n", s.namespace, "--kubeconfig", s.kubeconfig})
			require.Equal(t, "There is no DataEngineUpgradeManager upg: this is upgrade-1, the only one that begins so.\n", shown.String())
			require.Equal(t, end.code, code)
			s.golden("upgrade/watch-"+end.state+".txt", out.String())
		})
	}
	t.Run("one that ended is shown at once", func(t *testing.T) {
		got := s.run("upgrade", "watch", "-o", "json")
		require.Equal(t, ExitWarning, got.code)
		require.Contains(t, got.out, `"ended": true`)
	})
	t.Run("it gives up", func(t *testing.T) {
		s.setUpgrade("upgrade-1", func(status *v1beta2.DataEngineUpgradeManagerStatus) { status.State = v1beta2.UpgradeStatePaused })
		got := s.run("upgrade", "watch", "--timeout", "300ms")
		require.Equal(t, ExitFailed, got.code)
		require.Equal(t, "error: upgrade upgrade-1 has not ended after 300ms: it is paused; see: kubectl -n "+s.namespace+
			" get lhum,lhnu -o wide\n", got.err)
	})
}

func TestAnUpgradeIsPausedResumedAndAborted(t *testing.T) {
	s := newScenario(t, "upgrade/running.yaml").allowed("upgrade abort")
	got := s.run("upgrade", "pause", "upgrade-1")
	require.Empty(t, got.err)
	require.Equal(t, "upgrade-1: It pauses after the node that is under way.\n  kubectl drover upgrade watch upgrade-1 -n "+s.namespace+"\n",
		got.out)
	require.True(t, s.upgrade("upgrade-1").Spec.Paused)
	require.Contains(t, s.run("upgrade", "pause", "upgrade-1").out, "It is paused already.")

	require.Contains(t, s.run("upgrade", "resume", "upgrade-1").out, "It goes on.")
	require.False(t, s.upgrade("upgrade-1").Spec.Paused)

	got = s.answering("no", "upgrade", "abort", "upgrade-1")
	require.Equal(t, ExitFailed, got.code)
	require.Contains(t, got.err, "node node-2 is rolled back if its instance manager was not replaced yet, and finished otherwise.")
	require.Contains(t, got.err, "Abort upgrade upgrade-1? [y/N] no\nerror: not confirmed: nothing was changed\n")
	require.Contains(t, s.run("upgrade", "abort", "upgrade-1", "--dry-run").out, "It ends; node node-2 is rolled back")
	require.False(t, s.upgrade("upgrade-1").Spec.Abort)

	require.Equal(t, "dataengineupgrademanager.longhorn.io/upgrade-1\n", s.answering("y", "upgrade", "abort", "upgrade-1", "-o", "name").out)
	require.True(t, s.upgrade("upgrade-1").Spec.Abort)
	got = s.run("upgrade", "pause", "upgrade-1")
	require.Equal(t, "error: upgrade upgrade-1 is being aborted, or was: resume it first with: kubectl drover upgrade resume upgrade-1 -n "+
		s.namespace+"\n", got.err)

	require.Contains(t, s.run("upgrade", "resume", "upgrade-1").out, "It goes on.")
	s.setUpgrade("upgrade-1", func(status *v1beta2.DataEngineUpgradeManagerStatus) { status.State = v1beta2.UpgradeStateError })
	require.Contains(t, s.run("upgrade", "resume", "upgrade-1").out, "It is checked again: spec.maxRetries is 1.")
	require.Equal(t, 1, s.upgrade("upgrade-1").Spec.MaxRetries)

	s.setUpgrade("upgrade-1", func(status *v1beta2.DataEngineUpgradeManagerStatus) { status.State = v1beta2.UpgradeStateCompleted })
	require.Contains(t, s.run("upgrade", "abort", "upgrade-1", "--yes").err,
		"error: upgrade upgrade-1 is completed: there is nothing to abort")
}
