package command

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"k8s.io/cli-runtime/pkg/genericiooptions"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/kubectl-drover/internal/cluster"
	"drover.dev/drover/kubectl-drover/internal/orphans"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/testkit"
)

// deletingWhile runs orphans delete, and changes the orphan once after the preview was shown.
func (s *scenario) deletingWhile(name string, change func(*v1beta2.Orphan) error) result {
	s.t.Helper()
	var out bytes.Buffer
	shown, changed := &onWrite{}, false
	shown.after = func() {
		if !changed {
			changed = true
			o := &v1beta2.Orphan{}
			require.NoError(s.t, testkit.Admin(s.t).Get(s.t.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, o))
			require.NoError(s.t, change(o))
		}
	}
	frame := NewFrame(genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: shown})
	frame.Now = func() time.Time { return noon }
	code := frame.Run(s.t.Context(), "0.0.0-test", []string{"orphans", "delete", name, "--yes", "-n", s.namespace, "--kubeconfig",
		s.kubeconfig})
	return result{out: out.String(), err: shown.String(), code: code}
}

func TestOnlyWhatWasShownIsDeleted(t *testing.T) {
	s := newScenario(t, "common.yaml", "orphans/objects.yaml")
	got := s.deletingWhile("orphan-aa06", func(o *v1beta2.Orphan) error {
		for i := range o.Status.Conditions {
			if c := &o.Status.Conditions[i]; c.Type == v1beta2.OrphanCleanupApproved {
				c.Reason = v1beta2.ReasonFlood
			}
		}
		return testkit.Admin(t).Status().Update(t.Context(), o)
	})
	require.Equal(t, ExitFailed, got.code)
	require.Contains(t, got.err, "error: orphan.longhorn.io/orphan-aa06: it changed since it was shown, look again; nothing was deleted\n")
	require.True(t, s.orphanExists("orphan-aa06"))

	got = s.deletingWhile("orphan-aa06", func(o *v1beta2.Orphan) error {
		o.Labels = map[string]string{"checked": "true"} // another resourceVersion, the same effect
		return testkit.Admin(t).Update(t.Context(), o)
	})
	require.Equal(t, "orphan.longhorn.io/orphan-aa06 deleted\n", got.out, got.err)
	require.False(t, s.orphanExists("orphan-aa06"))
}

// One of two objects changes between the last read and its deletion: the program that reads -o json learns which one is left.
func TestAProgramLearnsWhichDeletionFailed(t *testing.T) {
	s := newScenario(t, "common.yaml", "orphans/objects.yaml")
	var out bytes.Buffer
	frame := NewFrame(genericiooptions.IOStreams{In: strings.NewReader(""), Out: &out, ErrOut: &bytes.Buffer{}})
	frame.Now, frame.Output = func() time.Time { return noon }, outputJSON
	*frame.Kube.KubeConfig, *frame.Kube.Namespace = s.kubeconfig, s.namespace
	c, w, err := frame.observeOrphans(t.Context())
	require.NoError(t, err)
	plan, err := orphans.Choose(w, orphans.List(w), orphans.Selection{Names: []string{"orphan-aa06", "orphan-aa04"}})
	require.NoError(t, err)
	agreed := orphanTargets(w)
	stale := "orphan.longhorn.io/orphan-aa04"
	reads := 0
	err = frame.deleteAsAgreed(t.Context(), consent{yes: true}, plan, "", deletion{client: c, right: cluster.DeleteOrphans, agreed: agreed,
		read: func(context.Context) (targets, error) {
			_, w, err := frame.observeOrphans(t.Context())
			now := orphanTargets(w)
			if reads++; reads == 1 {
				now[stale].object.SetResourceVersion("1")
			} else {
				now[stale] = target{now[stale].object, "another effect"}
			}
			return now, err
		}})
	require.ErrorContains(t, err, stale+": it changed since it was shown, look again")
	require.JSONEq(t, `{"deleted": ["orphan.longhorn.io/orphan-aa06"],
		"failed": [{"name": "`+stale+`", "error": "`+stale+`: it changed since it was shown, look again"}]}`, out.String())
	require.True(t, s.orphanExists("orphan-aa04"))
	require.False(t, s.orphanExists("orphan-aa06"))
}
