package v1beta2_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

func replicaIn(name, directory string, active bool, age time.Duration) *v1beta2.Replica {
	r := &v1beta2.Replica{ObjectMeta: metav1.ObjectMeta{Name: name, CreationTimestamp: metav1.NewTime(time.Unix(1000, 0).Add(-age))}}
	r.Spec = v1beta2.ReplicaSpec{NodeID: "x", DiskID: "disk", DiskPath: "/disk", DataDirectoryName: directory, Active: active,
		DataEngine: v1beta2.DataEngineV1}
	return r
}

func namesOf(list []*v1beta2.Replica) (names []string) {
	for _, r := range list {
		names = append(names, r.Name)
	}
	return names
}

// K1: at every moment of a hand-over each directory counts once.
func TestEveryDirectoryIsOneCopy(t *testing.T) {
	for name, c := range map[string]struct {
		oldActive, newActive bool
		copies               []string
	}{
		"while both engines run":                {true, false, []string{"other", "old"}},
		"while the directory is handed over":    {true, true, []string{"other", "old"}},
		"after the directory was handed over":   {false, true, []string{"other", "new"}},
		"an inactive object is never the copy":  {false, false, []string{"other"}},
		"the order of the names does not count": {true, true, []string{"other", "old"}},
	} {
		t.Run(name, func(t *testing.T) {
			all := []*v1beta2.Replica{replicaIn("new", "dir", c.newActive, 0), replicaIn("other", "other-dir", true, time.Hour),
				replicaIn("old", "dir", c.oldActive, time.Hour)}
			copies, second := v1beta2.SplitCopies(all)
			require.ElementsMatch(t, c.copies, namesOf(copies))
			require.Len(t, second, 3-len(c.copies))
		})
	}
}

func TestADirectoryIsThatOfOneNodeAndDisk(t *testing.T) {
	for name, change := range map[string]func(*v1beta2.ReplicaSpec){
		"another node":      func(s *v1beta2.ReplicaSpec) { s.NodeID = "y" },
		"another disk":      func(s *v1beta2.ReplicaSpec) { s.DiskID = "disk-2" },
		"another path":      func(s *v1beta2.ReplicaSpec) { s.DiskPath = "/disk-2" },
		"another directory": func(s *v1beta2.ReplicaSpec) { s.DataDirectoryName = "dir-2" },
		"no directory":      func(s *v1beta2.ReplicaSpec) { s.DataDirectoryName = "" },
		"another data engine": func(s *v1beta2.ReplicaSpec) {
			s.DataEngine = v1beta2.DataEngineV2
		},
	} {
		a, b := replicaIn("a", "dir", true, 0), replicaIn("b", "dir", true, 0)
		require.True(t, v1beta2.HasSameDirectory(a, b))
		change(&b.Spec)
		require.False(t, v1beta2.HasSameDirectory(a, b), name)
		copies, second := v1beta2.SplitCopies([]*v1beta2.Replica{a, b})
		require.Len(t, copies, 2, name)
		require.Empty(t, second, name)
	}
}

// A v2 replica that no engine uses yet, and a replica without a place, are no second processes.
func TestOnlyAnInactiveV1DirectoryIsASecondProcess(t *testing.T) {
	require.False(t, v1beta2.IsSecondProcess(nil))
	r := replicaIn("a", "dir", false, 0)
	require.True(t, v1beta2.IsSecondProcess(r))
	require.False(t, v1beta2.IsReplicaHealthy(r), "even with HealthyAt")
	r.Spec.HealthyAt = "2026-01-01T00:00:00Z"
	require.False(t, v1beta2.IsReplicaHealthy(r))
	r.Spec.DataEngine = v1beta2.DataEngineV2
	require.False(t, v1beta2.IsSecondProcess(r))
	r = replicaIn("a", "", false, 0)
	require.False(t, v1beta2.IsSecondProcess(r))
}
