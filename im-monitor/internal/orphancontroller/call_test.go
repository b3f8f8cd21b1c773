package orphancontroller

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/orphan"
	"drover.dev/drover/shared/api/v1beta2"
)

// A replica whose Replica keeps the data stays listed as stopped: that is what was asked for, not a failure.
func TestAStoppedReplicaThatKeepsItsDataIsNotStillPresent(t *testing.T) {
	r := &executor{&base{}}
	o := &v1beta2.Orphan{ObjectMeta: metav1.ObjectMeta{UID: "uid"},
		Spec: v1beta2.OrphanSpec{Parameters: map[string]string{v1beta2.OrphanParameterInstanceUUID: "1"}}}
	r.attempts.Change("uid", func(t *attempt) { t.accepted(inventory.Call{UUID: "1"}, nil, time.Time{}) })
	w := orphan.World{Replica: &orphan.Claim{}, Inventory: &orphan.Inventory{
		Instance: &orphan.Instance{Type: v1beta2.InstanceTypeReplica, State: v1beta2.InstanceStateStopped, UUID: "1"}}}
	require.Nil(t, r.stillPresent(o, w))
	w.Inventory.Instance.State = v1beta2.InstanceStateRunning
	require.NotNil(t, r.stillPresent(o, w))
}

// What a server answers is one of few results; whatever leaves open whether it began is no refusal.
func TestWhatAnAnswerMeansForAnOrphan(t *testing.T) {
	for outcome, want := range map[execute.Outcome]string{
		execute.Accepted: "Accepted", execute.NotFound: "NotFound", execute.Unanswered: v1beta2.ReasonUnreachable,
		execute.Refused: v1beta2.ReasonRefused, execute.Failed: v1beta2.ReasonRefused,
	} {
		result, failure := (&try{orphan: &v1beta2.Orphan{}}).reported(execute.Result{Outcome: outcome})
		require.Equal(t, want, result)
		require.Equal(t, !outcome.Took(), failure.Reason == want, "what was taken is no failure")
	}
	data := &v1beta2.Orphan{Spec: v1beta2.OrphanSpec{OrphanType: v1beta2.OrphanTypeReplicaData,
		Parameters: map[string]string{v1beta2.OrphanParameterDiskType: v1beta2.DiskTypeBlock}}}
	for outcome, took := range map[execute.Outcome]bool{execute.Accepted: true, execute.NotFound: false} {
		out := execute.Result{Outcome: outcome, Err: errors.New("cannot find disk")}
		require.Equal(t, took, (&try{orphan: data}).took(out), "a disk that is not found may not be loaded")
		result, failure := (&try{orphan: data}).reported(out)
		require.Equal(t, took, result == string(outcome))
		require.Equal(t, !took, failure.Reason == v1beta2.ReasonRefused && strings.Contains(failure.Message, "cannot find disk"))
	}
	stop := execute.Fail(v1beta2.ReasonMappedByEngine, "text")
	result, failure := (&try{orphan: &v1beta2.Orphan{}}).reported(execute.Result{Stop: stop})
	require.Equal(t, stop.Result, result)
	require.Equal(t, orphan.Failure{Reason: v1beta2.ReasonMappedByEngine, Message: "text"}, failure)
	_, failure = (&try{orphan: &v1beta2.Orphan{}}).reported(execute.Result{Stop: execute.Stop{Result: execute.Disagreed}})
	require.Empty(t, failure)
}
