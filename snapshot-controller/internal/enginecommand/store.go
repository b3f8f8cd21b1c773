package enginecommand

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Store is a backup target, as the engine's commands reach it.
type Store struct {
	// Binary is the path of the engine, URL the target's, and Env its credentials as KEY=VALUE.
	Binary, URL string
	Env         []string
	// Limit is how long a command may take, but for those that remove.
	Limit time.Duration
	// Places bounds the commands that run at once.
	Places Places
}

// Volume is what a target reports of a volume.
type Volume struct {
	Name, Size, Created, LastBackupName, LastBackupAt, DataStored string
	BackingImageName, BackingImageChecksum, StorageClassname      string
	Labels, Messages                                              map[string]string
}

// Backup is what a target reports of a backup.
type Backup struct {
	Name, URL, SnapshotName, SnapshotCreated, Created, Size       string
	CompressionMethod, NewlyUploadedDataSize, ReUploadedDataSize  string
	VolumeName, VolumeSize, VolumeCreated, VolumeBackingImageName string
	Labels, Parameters, Messages                                  map[string]string
	IsIncremental                                                 bool
}

type listed struct {
	Messages map[string]string
	Backups  map[string]json.RawMessage
}

// messageError is the key of a message that reports an error.
const messageError = "error"

// Volumes returns the names of the volumes that the target has, each with why it cannot be read; empty: it can.
func (s Store) Volumes(ctx context.Context) (map[string]string, error) {
	var answer map[string]listed
	if err := s.ask(ctx, &answer, "ls", "--volume-only", s.URL); err != nil {
		return nil, err
	}
	out := map[string]string{}
	for name, l := range answer {
		out[name] = shown(l.Messages[messageError], s.Env)
	}
	return out, nil
}

// Backups returns the names of the backups of a volume, in order. The engine answers without any name also where it could not read the
// directory.
func (s Store) Backups(ctx context.Context, volume string) ([]string, error) {
	var answer map[string]listed
	if err := s.ask(ctx, &answer, "ls", "--volume", volume, s.URL); err != nil {
		return nil, err
	}
	l, ok := answer[volume]
	if !ok {
		return nil, &Failure{Kind: ErrUnreadable, Text: "the answer about volume " + volume + " does not name it"}
	}
	if text := l.Messages[messageError]; text != "" {
		text = shown(text, s.Env)
		return nil, &Failure{Kind: kindOf(text), Text: text}
	}
	out := make([]string, 0, len(l.Backups))
	for name := range l.Backups {
		out = append(out, name)
	}
	slices.Sort(out)
	return out, nil
}

// Volume reads a volume. What it reports is of that volume.
func (s Store) Volume(ctx context.Context, volume string) (Volume, error) {
	var out Volume
	if err := s.ask(ctx, &out, "inspect-volume", s.volumeURL(volume)); err != nil {
		return Volume{}, err
	}
	if out.Name != volume {
		return Volume{}, &Failure{Kind: ErrUnreadable, Text: fmt.Sprintf("asked about volume %s, the engine answered about %q", volume, out.Name)}
	}
	return out, nil
}

// Backup reads a backup. What it reports is of that backup.
func (s Store) Backup(ctx context.Context, volume, backup string) (Backup, error) {
	var out Backup
	if err := s.ask(ctx, &out, "inspect", s.BackupURL(volume, backup)); err != nil {
		return Backup{}, err
	}
	if out.Name != backup || out.VolumeName != volume {
		return Backup{}, &Failure{Kind: ErrUnreadable, Text: fmt.Sprintf("asked about backup %s of volume %s, the engine answered about %q of %q",
			backup, volume, out.Name, out.VolumeName)}
	}
	return out, nil
}

// ChangedAt returns when the target's record of a volume was changed last.
func (s Store) ChangedAt(ctx context.Context, volume string) (time.Time, error) {
	var out struct{ ModificationTime time.Time }
	if err := s.ask(ctx, &out, "head", s.volumeURL(volume)); err != nil {
		return time.Time{}, err
	}
	return out.ModificationTime, nil
}

// RemoveBackup removes a backup. It has no limit of time: the engine goes through all blocks of the volume. What is not there is success.
func (s Store) RemoveBackup(ctx context.Context, volume, backup string) error {
	_, err := s.run(ctx, 0, "backup", "rm", s.BackupURL(volume, backup))
	return err
}

// RemoveVolume removes all that the target has of a volume, without a limit of time. What is not there is success.
func (s Store) RemoveVolume(ctx context.Context, volume string) error {
	_, err := s.run(ctx, 0, "backup", "rm", "--volume", volume, s.URL)
	return err
}

// ask runs a command and reads its answer.
func (s Store) ask(ctx context.Context, into any, args ...string) error {
	out, err := s.run(ctx, s.Limit, append([]string{"backup"}, args...)...)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(out, into); err != nil {
		return &Failure{Kind: ErrUnreadable, Text: fmt.Sprintf("the answer to backup %s cannot be read: %v", args[0], err)}
	}
	return nil
}

func (s Store) volumeURL(volume string) string { return s.with(url.Values{"volume": {volume}}) }

// BackupURL is the URL of a backup in the target.
func (s Store) BackupURL(volume, backup string) string {
	return s.with(url.Values{"backup": {backup}, "volume": {volume}})
}

// with adds to the target's URL, which may have options of its own.
func (s Store) with(values url.Values) string {
	separator := "?"
	if strings.Contains(s.URL, "?") {
		separator = "&"
	}
	return s.URL + separator + values.Encode()
}
