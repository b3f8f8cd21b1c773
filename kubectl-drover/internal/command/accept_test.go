package command

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit"
)

func (s *scenario) orphan(name string) *v1beta2.Orphan {
	s.t.Helper()
	o := &v1beta2.Orphan{}
	require.NoError(s.t, testkit.Admin(s.t).Get(s.t.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, o))
	return o
}

// acceptingWhile runs orphans accept, and changes the orphan once after the preview was shown.
func (s *scenario) acceptingWhile(name string, change func(*v1beta2.Orphan) error) result {
	s.t.Helper()
	var out bytes.Buffer
	shown, changed := &onWrite{}, false
	shown.after = func() {
		if !changed {
			changed = true
			require.NoError(s.t, change(s.orphan(name)))
		}
	}
	frame := NewFrame(genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: shown})
	frame.Now = func() time.Time { return noon }
	code := frame.Run(s.t.Context(), "0.0.0-test", []string{"orphans", "accept", name, "--yes", "-n", s.namespace, "--kubeconfig",
		s.kubeconfig})
	return result{out: out.String(), err: shown.String(), code: code}
}

func TestWhatIsOrphanedNowIsGivenUpByOneCommand(t *testing.T) {
	s := newScenario(t, "common.yaml", "orphans/objects.yaml").allowed("orphans accept")
	got := s.run("orphans", "accept")
	require.Equal(t, ExitFailed, got.code)
	require.Contains(t, got.err, "select them with --node, --older-than or --all")

	got = s.run("orphans", "accept", "--all")
	require.Equal(t, ExitFailed, got.code, "nobody agreed")
	s.golden("orphans/accept.txt", got.err)
	for _, name := range []string{"orphan-aa01", "orphan-aa06"} {
		require.Empty(t, s.orphan(name).Annotations)
	}
	require.Contains(t, s.run("orphans", "accept", "--all", "--older-than", "1h", "--dry-run").out, "", "they were found a moment ago")

	got = s.run("orphans", "accept", "--node", "node-1", "--yes")
	require.Zero(t, got.code, got.err)
	require.Equal(t, "orphan.longhorn.io/orphan-aa06 given up\n", got.out)
	o := s.orphan("orphan-aa06")
	require.True(t, v1beta2.GivenUp(o))
	require.Regexp(t, `^system:serviceaccount:\S+ 20\d\d-\d\d-\d\dT`, o.Annotations[v1beta2.AnnotationGivenUpBy])
	require.Nil(t, o.DeletionTimestamp, "it deletes nothing")
	require.Contains(t, s.run("orphans", "explain", "orphan-aa06").out, "by system:serviceaccount:")

	got = s.run("orphans", "accept", "orphan-aa06", "--yes")
	require.Contains(t, got.out, "It is recorded already, by system:serviceaccount:")
	got = s.run("orphans", "accept", "gone-1-r-1111", "--yes", "-o", "json")
	require.Contains(t, got.out, `"orphan.longhorn.io/orphan-aa01"`, "a name includes its data")
}

// The preview is stale, the instance is claimed again, or another Orphan has the name: nothing is recorded.
func TestOnlyWhatWasShownIsGivenUp(t *testing.T) {
	admin := testkit.Admin(t)
	for name, change := range map[string]func(*v1beta2.Orphan) error{
		"its rule is another": func(o *v1beta2.Orphan) error {
			o.Status.Conditions[0].Reason = v1beta2.ReasonOwnedByOtherInstanceManager
			return admin.Status().Update(t.Context(), o)
		},
		"it is claimed again": func(o *v1beta2.Orphan) error {
			o.Status.Conditions = append(o.Status.Conditions, v1beta2.Condition{Type: v1beta2.OrphanWithdrawn,
				Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonClaimed})
			return admin.Status().Update(t.Context(), o)
		},
		"it is gone": func(o *v1beta2.Orphan) error { return admin.Delete(t.Context(), o) },
		"another one has its name": func(o *v1beta2.Orphan) error {
			if err := admin.Delete(t.Context(), o); err != nil {
				return err
			}
			again := &v1beta2.Orphan{Spec: o.Spec}
			again.Namespace, again.Name = o.Namespace, o.Name
			if err := admin.Create(t.Context(), again); err != nil {
				return err
			}
			again.Status = o.Status
			return admin.Status().Update(t.Context(), again)
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := newScenario(t, "common.yaml", "orphans/objects.yaml")
			got := s.acceptingWhile("orphan-aa06", change)
			require.Equal(t, ExitFailed, got.code)
			require.Contains(t, got.err, "it changed since it was shown, look again; nothing was recorded")
			o := &v1beta2.Orphan{}
			err := admin.Get(t.Context(), client.ObjectKey{Namespace: s.namespace, Name: "orphan-aa06"}, o)
			require.NoError(t, client.IgnoreNotFound(err))
			require.Empty(t, o.Annotations)
		})
	}
	s := newScenario(t, "common.yaml", "orphans/objects.yaml")
	got := s.acceptingWhile("orphan-aa06", func(o *v1beta2.Orphan) error {
		o.Labels = map[string]string{"checked": "true"} // another resourceVersion, the same effect
		return admin.Update(t.Context(), o)
	})
	require.Equal(t, "orphan.longhorn.io/orphan-aa06 given up\n", got.out, got.err)
}
