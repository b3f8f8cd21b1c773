package dataplane

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// hostPrefix is the path at which an instance manager's pod has the root of its node.
const hostPrefix = "/host"

// hostPath returns where a path of a process is among the hosts' directories, or "" if there are none.
func (s *Server) hostPath(path string) string {
	if s.plane.behaviour.Hosts == "" || !filepath.IsAbs(path) {
		return ""
	}
	return filepath.Join(s.plane.behaviour.Hosts, s.node.name, "host", strings.TrimPrefix(path, hostPrefix))
}

// makeDirectory makes the directory of a v1 replica, if it is not there, and answers why the process exits, or "". A directory that
// somebody removed has lost its data. As a real replica it makes no directory above its own.
func (s *Server) makeDirectory(i *Instance, source string) string {
	path := s.hostPath(i.directory())
	if path == "" || source != SourceWire {
		return ""
	}
	switch err := os.Mkdir(path, 0o700); {
	case errors.Is(err, fs.ErrExist):
		return ""
	case err != nil:
		return exited(err.Error(), 1)
	}
	delete(s.node.directories, i.directory())
	size := arguments(i.Args).number("--size")
	if err := writeReplica(path, size); err != nil {
		return exited(err.Error(), 1)
	}
	return ""
}

// writeReplica writes the files of a new replica: its head, without content, and what describes both.
func writeReplica(path string, size uint64) error {
	const head = "volume-head-000.img"
	for name, content := range map[string]any{
		"volume.meta": map[string]any{"Size": size, "Head": head, "Dirty": true, "Rebuilding": false, "Error": "", "Parent": "",
			"SectorSize": 512, "BackingFilePath": ""},
		head + ".meta": map[string]any{"Name": head, "Parent": "", "Removed": false, "UserCreated": false, "Created": "", "Labels": nil},
	} {
		body, err := json.Marshal(content)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(path, name), body, 0o600); err != nil {
			return err
		}
	}
	file, err := os.Create(filepath.Join(path, head))
	if err != nil {
		return err
	}
	return errors.Join(file.Truncate(int64(size)), file.Close())
}
