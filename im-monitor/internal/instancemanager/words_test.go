package instancemanager

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

// waits is a pod whose container waits for a reason.
func waits(reason string) *corev1.Pod {
	return &corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: []corev1.ContainerStatus{
		{}, {Image: "im:1", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: reason, Message: "try 7"}}}}}}
}

// What changes from try to try is left out: each condition would be written again.
func TestWhatTheKubeletReportsAboutAPod(t *testing.T) {
	require.Empty(t, because(&corev1.Pod{}))
	require.Equal(t, " (Evicted)", because(&corev1.Pod{Status: corev1.PodStatus{Reason: "Evicted"}}))
	require.Equal(t, " (ErrImagePull)", because(waits("ErrImagePull")))
	ended := waits("")
	ended.Status.ContainerStatuses[1].State = corev1.ContainerState{
		Terminated: &corev1.ContainerStateTerminated{Reason: "OOMKilled", ExitCode: 137}}
	require.Equal(t, " (OOMKilled, exit code 137)", because(ended))
}

func TestWhyAPodCannotStart(t *testing.T) {
	require.Equal(t, "image im:1 cannot be pulled", cannotStart(waits("ImagePullBackOff")))
	require.Equal(t, "CreateContainerConfigError", cannotStart(waits("CreateContainerConfigError")))
	require.Empty(t, cannotStart(waits("ContainerCreating")), "it is being started")
	require.Empty(t, cannotStart(&corev1.Pod{}))
}

func TestSentencesNameTheFirstFewInstances(t *testing.T) {
	processes := func(names ...string) map[string]v1beta2.InstanceProcess {
		out := map[string]v1beta2.InstanceProcess{}
		for _, name := range names {
			out[name] = v1beta2.InstanceProcess{}
		}
		return out
	}
	what := Running(v1beta2.InstanceManagerStatus{InstanceEngines: processes("b", "a"), InstanceEngineFrontends: processes("f")})
	require.Equal(t, []string{"engine frontend f", "engine a", "engine b"}, what)
	require.Equal(t, "engine frontend f is", naming(what[:1]))
	require.Equal(t, "engine frontend f, engine a, engine b are", naming(what))
	require.Equal(t, "engine frontend f, engine a, engine b and 1 more are", naming(append(what, "engine c")))
}

func TestWhichUpgradesAreUnderWay(t *testing.T) {
	for _, state := range []string{v1beta2.UpgradeStateInitializing, v1beta2.UpgradeStateSwitchingOver, v1beta2.UpgradeStateDetachingReplicas,
		v1beta2.UpgradeStateUpgradingInstanceManager, v1beta2.UpgradeStateSwitchingBack, v1beta2.UpgradeStateRebuildingReplica,
		v1beta2.UpgradeStateRollingBack} {
		require.True(t, ActiveUpgrade(state), state)
	}
	for _, state := range []string{"", v1beta2.UpgradeStateUndefined, v1beta2.UpgradeStateCompleted, v1beta2.UpgradeStateError} {
		require.False(t, ActiveUpgrade(state), state)
	}
}

func TestOnlyReplicasThatServeAreAskedAbout(t *testing.T) {
	replicas := map[string]v1beta2.InstanceProcess{"stopped": {}, "runs": {}, "odd": {}}
	for name, state := range map[string]string{"stopped": v1beta2.InstanceStateStopped, "runs": v1beta2.InstanceStateRunning,
		"odd": v1beta2.InstanceStateError} {
		replicas[name] = v1beta2.InstanceProcess{Status: v1beta2.InstanceProcessStatus{State: state}}
	}
	require.Equal(t, []string{"odd", "runs"}, Processes{Replicas: replicas}.Serving())
}
