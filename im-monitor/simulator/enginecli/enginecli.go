// Package enginecli answers the engine's commands about backup targets, from the targets of the simulator. Its answers have the form of a
// real engine's, with which a person compared them. No test does: the scenarios of backups run with both.
package enginecli

import (
	"encoding/json"
	"fmt"
	"io"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"drover.dev/drover/im-monitor/simulator/internal/backupstore"
	"drover.dev/drover/shared/api/v1beta2"
)

// Program is the name of the program that a caller runs: a test binary of that name is to answer with Main.
const Program = "longhorn"

// IsCalled reports whether this process was started as the engine's program.
func IsCalled() bool {
	return filepath.Base(os.Args[0]) == Program && len(os.Args) > 1 && os.Args[1] == "backup"
}

// Install makes this program answer as the engine of an image, below a directory of engine binaries.
func Install(directory, image string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	at := filepath.Join(directory, v1beta2.EngineBinaryDirectory(image))
	if err := os.MkdirAll(at, 0o755); err != nil {
		return err
	}
	return os.Symlink(self, filepath.Join(at, Program))
}

// Main runs one command and returns its exit code. args are those after the program's name.
func Main(args []string, stdout io.Writer) int {
	answer, err := run(args)
	if err != nil {
		_, _ = fmt.Fprintln(stdout, err)
		return 1
	}
	if answer != nil {
		text, err := json.MarshalIndent(answer, "", "\t")
		if err != nil {
			return 1
		}
		_, _ = fmt.Fprintln(stdout, string(text))
	}
	return 0
}

func run(args []string) (any, error) {
	if len(args) < 3 || args[0] != "backup" {
		return nil, fmt.Errorf("cannot find valid required parameter: %v", "dest URL")
	}
	command, rest := args[1], args[2:]
	target := rest[len(rest)-1]
	c, err := open(target)
	if err != nil {
		return nil, err
	}
	switch {
	case command == "ls" && len(rest) == 2 && rest[0] == "--volume-only":
		return c.volumes(), nil
	case command == "ls" && len(rest) == 3 && rest[0] == "--volume":
		return map[string]volumeInfo{rest[1]: c.list(rest[1])}, nil
	case command == "rm" && len(rest) == 3 && rest[0] == "--volume":
		return nil, c.store.RemoveVolume(rest[1])
	case len(rest) != 1:
	case command == "inspect-volume":
		return c.inspectVolume()
	case command == "inspect":
		return c.inspect()
	case command == "head":
		return c.head()
	case command == "rm":
		return nil, c.store.Remove(c.volume, c.backup)
	}
	return nil, fmt.Errorf("flag provided but not defined: %v", rest)
}

// call is one command.
type call struct {
	store                  backupstore.Store
	target, volume, backup string
}

func open(target string) (*call, error) {
	at, query, _ := strings.Cut(target, "?")
	scheme, _, _ := strings.Cut(at, "://")
	if scheme != "file" && scheme != "vfs" {
		return nil, fmt.Errorf("driver %s is not supported", scheme)
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return nil, err
	}
	store, err := backupstore.Open(at, "")
	if err != nil {
		return nil, err
	}
	switch fault, text, _ := strings.Cut(store.Fault(), ":"); fault {
	case "hang":
		for {
			time.Sleep(time.Hour)
		}
	case "refuse":
		return nil, fmt.Errorf("%s", strings.TrimSpace(text))
	case "half":
		_, _ = os.Stdout.WriteString("{\n\t\"vol")
		os.Exit(0)
	}
	return &call{store: store, target: at, volume: values.Get("volume"), backup: values.Get("backup")}, nil
}

type volumeInfo struct {
	Name, Size                   string
	Labels                       map[string]string
	Created, LastBackupName      string
	LastBackupAt, DataStored     string
	Messages                     map[string]string
	Backups                      map[string]backupInfo `json:",omitempty"`
	BackingImageName             string
	BackingImageChecksum         string
	StorageClassname, DataEngine string
}

type backupInfo struct {
	Name, URL, SnapshotName, SnapshotCreated, Created, Size string
	Labels, Parameters                                      map[string]string
	IsIncremental                                           bool
	CompressionMethod                                       string `json:",omitempty"`
	NewlyUploadedDataSize, ReUploadedDataSize               string
	VolumeName                                              string `json:",omitempty"`
	VolumeSize                                              string `json:",omitempty"`
	VolumeCreated                                           string `json:",omitempty"`
	Messages                                                map[string]string
}

func emptyVolume() volumeInfo {
	return volumeInfo{Size: "0", DataStored: "0", Messages: map[string]string{}}
}

func (c *call) volumes() map[string]volumeInfo {
	out := map[string]volumeInfo{}
	for _, name := range c.store.Volumes() {
		out[name] = c.exists(name)
	}
	return out
}

// exists is the entry of a volume, with an error if its record is missing.
func (c *call) exists(volume string) volumeInfo {
	v := emptyVolume()
	if _, _, err := c.store.Record(volume); os.IsNotExist(err) {
		v.Messages["error"] = notFound(backupstore.RecordPath(volume)).Error()
	}
	return v
}

func (c *call) list(volume string) volumeInfo {
	v := c.exists(volume)
	if len(v.Messages) > 0 {
		return v
	}
	v.Backups = map[string]backupInfo{}
	for _, name := range c.store.Backups(volume) {
		v.Backups[name] = backupInfo{Size: "0", NewlyUploadedDataSize: "0", ReUploadedDataSize: "0"}
	}
	return v
}

func notFound(path string) error {
	return fmt.Errorf("cannot find backupstore/%s in backupstore", path)
}

func (c *call) record() (v backupstore.Volume, at time.Time, err error) {
	v, at, err = c.store.Record(c.volume)
	if os.IsNotExist(err) {
		err = notFound(backupstore.RecordPath(c.volume))
	}
	return v, at, err
}

func (c *call) inspectVolume() (any, error) {
	record, _, err := c.record()
	if err != nil {
		return nil, err
	}
	v := emptyVolume()
	v.Name, v.Size, v.Labels, v.Created = record.Name, strconv.FormatUint(record.Size, 10), record.Labels, shown(record.Created)
	v.LastBackupName, v.LastBackupAt, v.DataEngine = record.LastBackupName, shown(record.LastBackupAt), "v1"
	total := int64(0)
	for _, name := range c.store.Backups(c.volume) {
		if b, err := c.store.Read(c.volume, name); err == nil {
			total += bytesOf(b)
		}
	}
	v.DataStored = strconv.FormatInt(total, 10)
	return v, nil
}

func (c *call) inspect() (any, error) {
	record, _, err := c.record()
	if err != nil {
		return nil, err
	}
	b, err := c.store.Read(c.volume, c.backup)
	switch {
	case os.IsNotExist(err):
		return nil, notFound("volumes/" + c.volume + "/backups/backup_" + c.backup + ".cfg")
	case err != nil:
		return nil, err
	case b.Created.IsZero():
		return nil, fmt.Errorf("backup %s is still in progress", b.Name)
	}
	size := strconv.FormatInt(bytesOf(b), 10)
	return backupInfo{Name: b.Name, URL: backupstore.URL(c.target, b.Name, b.Volume), SnapshotName: b.Snapshot,
		SnapshotCreated: shown(b.Created), Created: shown(b.Created), Size: size, Labels: b.Labels, CompressionMethod: "none",
		NewlyUploadedDataSize: size, ReUploadedDataSize: "0",
		VolumeName: record.Name, VolumeSize: strconv.FormatUint(record.Size, 10), VolumeCreated: shown(record.Created)}, nil
}

func (c *call) head() (any, error) {
	_, at, err := c.record()
	if err != nil {
		return nil, err
	}
	return map[string]time.Time{"ModificationTime": at.UTC()}, nil
}

func bytesOf(b backupstore.Backup) int64 {
	total := int64(0)
	for _, text := range b.Blocks {
		total += int64(len(text))
	}
	return total
}

func shown(at time.Time) string {
	if at.IsZero() {
		return ""
	}
	return at.UTC().Format(time.RFC3339)
}
