package imclient

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Both data engines answer OK to a restore that they do not begin.
func TestARestoreThatIsNotBegunFails(t *testing.T) {
	s := &engineServer{}
	p := s.connect(t, Options{})
	for answer, want := range map[string]string{
		"":     "",
		"null": "",
		"cannot find backupstore/volumes/ab/cd/vol/backups/backup_b.cfg":                                            "cannot find backupstore",
		"volume frontend enabled, aborting restore":                                                                 "frontend enabled",
		"cannot restore while a purge is in progress":                                                               "a purge is in progress",
		"rebuilding of a replica is in progress":                                                                    "rebuilding",
		"restore of backup b is in progress":                                                                        "",
		"already restored backup b":                                                                                 "",
		`{"ReplicaErrors":[{"Address":"tcp://a:1","Message":"the restore is already in progress"}]}`:                "",
		`{"ReplicaErrors":[{"Address":"tcp://b:1","Message":"already restored backup b"},{"Address":"tcp://a:1"}]}`: "tcp://a:1: ",
		`{"ReplicaErrors":[{"Address":"tcp://b:1","Message":"no space"},{"Address":"tcp://a:1","Message":"failed lock"}]}`: "tcp://a:1: " +
			"failed lock; tcp://b:1: no space",
	} {
		s.taskError = answer
		err := p.Restore(t.Context(), v1Target, RestoreOrder{URL: "u"})
		if want == "" {
			require.NoError(t, err, answer)
			continue
		}
		require.ErrorIs(t, err, ErrFailed, answer)
		require.ErrorContains(t, err, "BackupRestore at 10.0.0.1: instance manager failed: ", answer)
		require.ErrorContains(t, err, want)
	}
}
