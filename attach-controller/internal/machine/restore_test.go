package machine

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

func TestAStandbyVolumeHasTheSizeOfABackupBeforeItIsFilledWithIt(t *testing.T) {
	const was = int64(1 << 30)
	for name, c := range map[string]struct {
		stored, engine int64
		labels         map[string]string
		encrypted      bool
		size           any
		asked          bool
		says           string
	}{
		"the backups have its size":                   {stored: was, engine: was, asked: true},
		"nobody tells their size":                     {engine: was, asked: true},
		"they are larger":                             {stored: 2 * was, engine: was, size: strconv.FormatInt(2*was, 10), says: "it grows first"},
		"its engine is smaller":                       {stored: was, engine: was / 2, says: "before the next backup"},
		"they are smaller":                            {stored: was / 2, engine: was, says: "of its own size only"},
		"they hold the header of an encrypted volume": {stored: was + v1beta2.LUKSHeaderBytes, engine: was, encrypted: true, labels: map[string]string{"volume-encrypted": "enabled"}, asked: true},
		"an encrypted volume whose backups do not":    {stored: was, engine: was, encrypted: true, asked: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := attached(v1beta2.DataEngineV1, "x", "y")
			s.Volume.Spec.FromBackup, s.Volume.Spec.Standby, s.Volume.Spec.DisableFrontend = "s3://t?backup=b-1&volume=old", true, true
			s.Volume.Spec.Encrypted = c.encrypted
			s.Volume.Status.RestoreInitiated, s.Volume.Status.RestoreRequired, s.Volume.Status.IsStandby = true, true, true
			s.Engines[0].Status.CurrentSize = c.engine
			s.BackupVolume = &v1beta2.BackupVolume{Status: v1beta2.BackupVolumeStatus{LastBackupName: "b-2", Labels: c.labels}}
			s.BackupVolume.Name = "old-1"
			if c.stored > 0 {
				s.BackupVolume.Status.Size = strconv.FormatInt(c.stored, 10)
			}
			v := Decide(s.World)
			var size any
			if w := findWrite(v, s.Volume); w != nil {
				size = w.Spec["size"]
			}
			require.Equal(t, c.size, size)
			w := findWrite(v, s.Engines[0])
			require.Equal(t, c.asked, w != nil && w.Spec["requestedBackupRestore"] == "b-2")
			if c.says != "" {
				require.Contains(t, conditions.Get(v.Conditions, v1beta2.VolumeAttached).Message, c.says)
			}
		})
	}
}
