package backup

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

// made is a finished Backup of so many minutes after noon.
func made(name string, minutes int, changes ...func(*v1beta2.Backup)) *v1beta2.Backup {
	b := &v1beta2.Backup{ObjectMeta: metav1.ObjectMeta{Name: name}}
	b.Status.State, b.Status.BackupCreatedAt = v1beta2.BackupCompleted, noon.Add(time.Duration(minutes)*time.Minute).Format(time.RFC3339)
	for _, change := range changes {
		change(b)
	}
	return b
}

func TestTheLastBackup(t *testing.T) {
	failed := func(b *v1beta2.Backup) { b.Status.State = v1beta2.BackupError }
	undated := func(b *v1beta2.Backup) { b.Status.BackupCreatedAt = "" }
	going := func(b *v1beta2.Backup) { b.DeletionTimestamp = &metav1.Time{Time: noon} }
	for name, test := range map[string]struct {
		backups []*v1beta2.Backup
		want    string
	}{
		"there is none":                   {nil, ""},
		"the newest":                      {[]*v1beta2.Backup{made("a", 1), made("b", 3), made("c", 2)}, "b"},
		"of two of one second the last":   {[]*v1beta2.Backup{made("b", 1), made("a", 1)}, "b"},
		"one that failed is none":         {[]*v1beta2.Backup{made("a", 1), made("b", 2, failed)}, "a"},
		"one that goes is none":           {[]*v1beta2.Backup{made("a", 1), made("b", 2, going)}, "a"},
		"one without a time is none":      {[]*v1beta2.Backup{made("a", 1), made("b", 2, undated)}, "a"},
		"that of an earlier volume":       {[]*v1beta2.Backup{made("a", -1)}, ""},
		"that of the volume's own second": {[]*v1beta2.Backup{made("a", 0)}, "a"},
	} {
		t.Run(name, func(t *testing.T) {
			v := &v1beta2.Volume{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.NewTime(noon)}}
			got, at := Last(v, test.backups)
			require.Equal(t, test.want, got)
			require.Equal(t, test.want == "", at == "")
			slices.Reverse(test.backups)
			again, _ := Last(v, test.backups)
			require.Equal(t, got, again)
		})
	}
}

func TestABackupWithoutATimeIsNotTheLastOfAVolumeWithoutOne(t *testing.T) {
	for _, at := range []string{"", "yesterday", "2026-08-01"} {
		undated := made("a", 1, func(b *v1beta2.Backup) { b.Status.BackupCreatedAt = at })
		name, _ := Last(&v1beta2.Volume{}, []*v1beta2.Backup{undated})
		require.Empty(t, name, at)
	}
}
