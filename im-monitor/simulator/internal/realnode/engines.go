package realnode

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"drover.dev/drover/im-monitor/simulator/internal/machine"
)

// PutEngine puts the engine binary of an image into a directory of a node's host.
func (m *Machine) PutEngine(node, directory, image string) error {
	if err := m.AddEngineImage(image); err != nil {
		return err
	}
	return m.link(node, directory)
}

// link puts a link to this program, which runs the engine, into a directory of a node's host; see RunEngine.
func (m *Machine) link(node, directory string) error {
	at, err := m.onHost(node, directory)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(at, 0o755); err != nil {
		return fmt.Errorf("making the directory of an engine binary: %w", err)
	}
	if err := os.Symlink(selfInPod, filepath.Join(at, engineName)); err != nil && !errors.Is(err, os.ErrExist) {
		return fmt.Errorf("installing an engine binary: %w", err)
	}
	return nil
}

// RemoveEngine removes it again.
func (m *Machine) RemoveEngine(node, directory string) error {
	at, err := m.onHost(node, directory)
	if err != nil {
		return err
	}
	if err := os.Remove(filepath.Join(at, engineName)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("removing an engine binary: %w", err)
	}
	return nil
}

// onHost returns where a directory of a node's host is here.
func (m *Machine) onHost(node, directory string) (string, error) {
	m.mutex.Lock()
	defer m.mutex.Unlock()
	n := m.nodes[node]
	if n == nil {
		return "", fmt.Errorf("node %s: %w", node, machine.ErrNotFound)
	}
	return filepath.Join(n.host, directory), nil
}

// EngineVersion returns what the engine binary prints for `version --client-only`.
func (m *Machine) EngineVersion(string) (string, error) {
	out, err := exec.Command(m.options.Engine, "version", "--client-only").Output()
	if err != nil {
		return "", fmt.Errorf("asking the engine binary for its version: %w", err)
	}
	return string(out), nil
}
