package enginecommand

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// This test binary plays the engine: what it does is in a variable of the environment, as the credentials of a target are.
func TestMain(m *testing.M) {
	switch plays, text, _ := strings.Cut(os.Getenv("PLAYS"), ":"); plays {
	case "":
		os.Exit(m.Run())
	case "answer":
		fmt.Println(text)
	case "refuse":
		fmt.Println(text)
		os.Exit(1)
	case "log": // fails with nothing but a log
		fmt.Fprintln(os.Stderr, "level=info\n"+text)
		os.Exit(1)
	case "environment":
		fmt.Printf("{\"vol\": {\"Backups\": {%q: {}}}}", strings.Join(os.Environ(), " "))
	case "arguments":
		fmt.Printf("{\"vol\": {\"Backups\": {%q: {}}}}", strings.Join(os.Args[1:], " "))
	case "hang":
		child := exec.Command("sleep", "3600")
		if err := child.Start(); err != nil {
			os.Exit(2)
		}
		if err := os.WriteFile(text+".new", []byte(fmt.Sprintf("%d %d", os.Getpid(), child.Process.Pid)), 0o600); err != nil {
			os.Exit(2)
		}
		if err := os.Rename(text+".new", text); err != nil {
			os.Exit(2)
		}
		_ = child.Wait()
	}
}

func playing(t *testing.T, what string) Store {
	self, err := os.Executable()
	require.NoError(t, err)
	return Store{Binary: self, URL: "s3://bucket@region/", Env: []string{"PLAYS=" + what}, Limit: time.Minute}
}

func TestACommandGetsTheCredentialsAndNothingElseOfThisProcess(t *testing.T) {
	t.Setenv("OURS", "secret")
	s := playing(t, "environment")
	s.Env = append(s.Env, "AWS_ENDPOINTS=", "AWS_SECRET_ACCESS_KEY=hush")
	names, err := s.Backups(t.Context(), "vol")
	require.NoError(t, err)
	got := strings.Fields(names[0])
	require.ElementsMatch(t, append([]string{searchPath}, s.Env...), got)
}

func TestArgumentsAreThoseOfTheContract(t *testing.T) {
	s := playing(t, "arguments")
	names, err := s.Backups(t.Context(), "vol")
	require.NoError(t, err)
	require.Equal(t, []string{"backup ls --volume vol s3://bucket@region/"}, names)
	require.Equal(t, "s3://bucket@region/?backup=b-1&volume=vol", s.BackupURL("vol", "b-1"))
	s.URL = "nfs://host:/path?nfsOptions=soft"
	require.Equal(t, "nfs://host:/path?nfsOptions=soft&volume=vol", s.volumeURL("vol"))
}

// The texts are those that a real engine wrote.
func TestRefusalsAreDistinguished(t *testing.T) {
	for text, kind := range map[string]error{
		"cannot find backupstore/volumes/01/9c/vol1/backups/backup_nob.cfg in backupstore": ErrNotFound,
		"cannot find backupstore/volumes/bd/15/novol/volume.cfg in backupstore":            ErrNotFound,
		"backup backup-x is still in progress":                                             ErrInProgress,
		"driver file is not supported":                                                     ErrRefused,
		"invalid character 'g' looking for beginning of value":                             ErrRefused,
		"cannot find volume in backupstore: cannot connect":                                ErrRefused,
	} {
		_, err := playing(t, "refuse:"+text).Backup(t.Context(), "vol", "b")
		require.ErrorIs(t, err, kind, text)
		require.EqualError(t, err, text)
	}
	_, err := playing(t, "log:no mount.nfs").Volumes(t.Context())
	require.ErrorIs(t, err, ErrRefused)
	require.EqualError(t, err, "no mount.nfs")
}

func TestAnAnswerThatIsNotAboutTheQuestionIsNone(t *testing.T) {
	for name, ask := range map[string]func(Store) error{
		"half an answer":   func(s Store) error { _, err := s.Volumes(t.Context()); return err },
		"another volume":   func(s Store) error { _, err := s.Volume(t.Context(), "vol"); return err },
		"another backup":   func(s Store) error { _, err := s.Backup(t.Context(), "vol", "b"); return err },
		"a missing volume": func(s Store) error { _, err := s.Backups(t.Context(), "vol"); return err },
	} {
		t.Run(name, func(t *testing.T) {
			text := `{"Name": "other", "VolumeName": "vol"}`
			switch name {
			case "half an answer":
				text = `{"vol": `
			case "a missing volume":
				text = `{}`
			}
			require.ErrorIs(t, ask(playing(t, "answer:"+text)), ErrUnreadable)
		})
	}
}

// A list that carries an error has no backups, and is not empty.
func TestAListWithAnErrorIsNone(t *testing.T) {
	s := playing(t, `answer:{"vol": {"Messages": {"error": "cannot find backupstore/volumes/01/9c/vol/volume.cfg in backupstore"}}}`)
	_, err := s.Backups(t.Context(), "vol")
	require.ErrorIs(t, err, ErrNotFound)
	listed, err := s.Volumes(t.Context())
	require.NoError(t, err)
	require.NotEmpty(t, listed["vol"])
}

// The text is one that a real engine wrote.
func TestWhatAnEnginePrintsOfItsMemoryIsLeftOut(t *testing.T) {
	_, err := playing(t, "refuse:failed to list objects with param: &{Bucket:0x2d8231fa3840 ContinuationToken:<nil> "+
		"noSmithyDocumentSerde:{}} error: AWS Error: NoSuchBucket The specified bucket does not exist").Volumes(t.Context())
	require.EqualError(t, err, "failed to list objects with param: … error: AWS Error: NoSuchBucket The specified bucket does not exist")
}

func TestNoCredentialIsShown(t *testing.T) {
	s := playing(t, "refuse:the key hush-hush is wrong for user")
	s.Env = append(s.Env, "AWS_SECRET_ACCESS_KEY=hush-hush", "CIFS_USERNAME=user")
	_, err := s.Volumes(t.Context())
	require.EqualError(t, err, "the key *** is wrong for user")
}

func TestAMissingBinaryIsDistinguishedFromATargetThatRefuses(t *testing.T) {
	s := Store{Binary: filepath.Join(t.TempDir(), "longhorn"), Limit: time.Minute}
	_, err := s.Volumes(t.Context())
	require.ErrorIs(t, err, ErrNoBinary)
}

// What takes too long ends, and so does all that it had begun.
func TestACommandThatTakesTooLongEndsWithItsChildren(t *testing.T) {
	note := filepath.Join(t.TempDir(), "pids")
	s := playing(t, "hang:"+note)
	ctx, cancel := context.WithCancel(t.Context())
	failed := make(chan error, 1)
	go func() {
		_, err := s.Volumes(ctx)
		failed <- err
	}()
	var pids []string
	require.Eventually(t, func() bool {
		text, err := os.ReadFile(note)
		pids = strings.Fields(string(text))
		return err == nil
	}, time.Minute, time.Millisecond)
	cancel()
	require.ErrorIs(t, <-failed, context.Canceled)
	for _, text := range pids {
		pid, err := strconv.Atoi(text)
		require.NoError(t, err)
		require.Eventually(t, func() bool { return hasEnded(pid) }, time.Minute, time.Millisecond)
	}
	s.Limit = time.Millisecond
	_, err := s.Volumes(t.Context())
	require.ErrorIs(t, err, ErrTimeout)
	require.ErrorContains(t, err, "the command backup ls had no answer within 1ms")
}

// hasEnded reports whether a process is gone; nobody may be there who reads the exit code of an orphan.
func hasEnded(pid int) bool {
	if syscall.Kill(pid, 0) != nil {
		return true
	}
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return true
	}
	fields := strings.Fields(string(stat[strings.LastIndexByte(string(stat), ')')+1:]))
	return fields[0] == "Z"
}

func TestNoMoreCommandsRunAtOnceThanThereArePlaces(t *testing.T) {
	s := playing(t, "answer:{}")
	s.Places = NewPlaces(1)
	done, err := s.Places.take(t.Context())
	require.NoError(t, err)
	s.Limit = time.Millisecond
	_, err = s.Volumes(t.Context())
	require.ErrorIs(t, err, ErrTimeout)
	require.ErrorContains(t, err, "earlier commands for this target have not ended")
	done()
	s.Limit = time.Minute
	_, err = s.Volumes(t.Context())
	require.NoError(t, err)
}
