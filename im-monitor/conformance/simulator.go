package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"drover.dev/drover/im-monitor/conformance/internal/target"
)

// simulator is a simulator that the suite started for itself: two nodes, each with an instance manager of both data engines, with mutual
// TLS.
type simulator struct {
	control   *target.Control
	tls       string
	directory string
	command   *exec.Cmd
}

// startSimulator runs the binary without an API server.
func startSimulator(ctx context.Context, binary string, more []string) (*simulator, error) {
	directory, err := os.MkdirTemp("", "conformance-")
	if err != nil {
		return nil, fmt.Errorf("making a directory for the simulator: %w", err)
	}
	s := &simulator{directory: directory, tls: filepath.Join(directory, "tls")}
	if out, err := exec.CommandContext(ctx, binary, "certs", s.tls).CombinedOutput(); err != nil {
		return nil, errors.Join(fmt.Errorf("making certificates with %s: %w: %s", binary, err, out), s.stop())
	}
	arguments := []string{"--standalone", "--nodes=2", "--control=127.0.0.1:0", "--log-level=warn", "--copy-time=500ms",
		"--dead-target-time=1s", "--dead-replica-time=1s",
		"--tls-dir=" + s.tls}
	s.command = exec.CommandContext(ctx, binary, append(arguments, more...)...)
	s.command.Stderr = os.Stderr
	s.command.Cancel = func() error { return s.command.Process.Signal(syscall.SIGTERM) }
	s.command.WaitDelay = 10 * time.Second
	out, err := s.command.StdoutPipe()
	if err != nil {
		return nil, errors.Join(err, s.stop())
	}
	if err := s.command.Start(); err != nil {
		s.command = nil
		return nil, errors.Join(fmt.Errorf("starting the simulator: %w", err), s.stop())
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, errors.Join(fmt.Errorf("reading where the simulator's control endpoint is: %w", err), s.stop())
	}
	found, ok := strings.CutPrefix(strings.TrimSpace(line), "control ")
	if !ok {
		return nil, errors.Join(fmt.Errorf("the simulator printed %q instead of the address of its control endpoint", line), s.stop())
	}
	s.control = &target.Control{URL: found}
	return s, nil
}

// hosts are the addresses of the instance managers of a data engine, by node.
func (s *simulator) hosts(ctx context.Context, engine string) ([]string, error) {
	pods, err := s.control.Pods(ctx)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, p := range pods {
		if p.DataEngine == engine {
			out = append(out, p.IP)
		}
	}
	if len(out) != 2 {
		return nil, fmt.Errorf("the simulator runs %d %s instance managers, not 2", len(out), engine)
	}
	return out, nil
}

// stop ends the simulator.
func (s *simulator) stop() error {
	var ended error
	if s.command != nil && s.command.Process != nil {
		ended = errors.Join(s.command.Process.Signal(syscall.SIGTERM), s.command.Wait())
	}
	return errors.Join(ended, os.RemoveAll(s.directory))
}

// settle sets what the flags would report about a target.
func (s *simulator) settle(ctx context.Context, o *options) error {
	v1, err := s.hosts(ctx, target.V1)
	if err != nil {
		return err
	}
	v2, err := s.hosts(ctx, target.V2)
	if err != nil {
		return err
	}
	o.v1, o.v1Second, o.v2, o.v2Second, o.tlsDirectory = v1[0], v1[1], v2[0], v2[1], s.tls
	o.engineBinary = "/engine-binaries/longhornio-longhorn-engine-v1.12.0/longhorn"
	o.replicaBinary = "/host/var/lib/longhorn" + o.engineBinary
	o.dataPath = "/host/var/lib/longhorn/replicas"
	o.backupTarget = "file://" + filepath.Join(s.directory, "backups")
	o.disk.Device, o.second.Device, o.spareDevice, o.destroy = "/dev/conformance-1", "/dev/conformance-1", "/dev/conformance-2", true
	o.backingFile = "/host/var/lib/longhorn/backing-images/conformance-00000000/backing"
	if err := s.control.AddBackingFile(ctx, "node-1", o.backingFile, 1<<20); err != nil {
		return err
	}
	for _, device := range [][2]string{{"node-1", o.disk.Device}, {"node-1", o.spareDevice}, {"node-2", o.second.Device}} {
		if err := s.control.AddDevice(ctx, device[0], device[1]); err != nil {
			return err
		}
	}
	return nil
}
