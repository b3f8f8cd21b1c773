package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/pflag"
	"google.golang.org/grpc/credentials"

	"drover.dev/drover/im-monitor/conformance/internal/target"
	"drover.dev/drover/im-monitor/internal/imclient"
)

// options are the flags of a run.
type options struct {
	simulator                               string
	simulatorArgs                           []string
	v1, v1Second, v2, v2Second              string
	portOffset                              int
	tlsDirectory                            string
	engineBinary, replicaBinary             string
	dataPath, backingFile, backupTarget     string
	frontendV1, frontendV2                  string
	volumeSize                              int64
	disk, second                            target.Disk
	spareDevice                             string
	destroy                                 bool
	content, devicePrefix                   string
	roots                                   map[string]string
	restartCommand, cutCommand, joinCommand string
	patience, observation, outage, limit    time.Duration

	id, pattern, output, ledger string
	list, record                bool
}

func defaults() *options {
	return &options{frontendV1: "tgt-blockdev", frontendV2: "spdk-tcp-blockdev", volumeSize: 64 << 20, content: "none",
		engineBinary: "", dataPath: "", patience: time.Minute, observation: 5 * time.Second, outage: 30 * time.Second,
		limit: 5 * time.Minute, output: "text", ledger: "im-monitor/conformance/ledger.yaml"}
}

func (o *options) flags(f *pflag.FlagSet) {
	f.StringVar(&o.simulator, "simulator", o.simulator,
		"binary of the simulator to start and to run against; everything about a target is then set")
	f.StringSliceVar(&o.simulatorArgs, "simulator-arg", o.simulatorArgs, "one more argument of the simulator (repeatable)")
	f.StringVar(&o.v1, "v1", o.v1, "address of a v1 instance manager that no one uses")
	f.StringVar(&o.v1Second, "v1-second", o.v1Second, "address of another one, on another node")
	f.StringVar(&o.v2, "v2", o.v2, "address of a v2 instance manager that no one uses")
	f.StringVar(&o.v2Second, "v2-second", o.v2Second, "address of another one, on another node")
	f.IntVar(&o.portOffset, "port-offset", o.portOffset, "added to the ports 8500 to 8504")
	f.StringVar(&o.tlsDirectory, "tls-dir", o.tlsDirectory, "directory with ca.crt, tls.crt, tls.key for mutual TLS; empty means plaintext")
	f.StringVar(&o.engineBinary, "engine-binary", o.engineBinary,
		"path of the engine image's binary inside the v1 instance manager, for engines, such as /engine-binaries/<image>/longhorn")
	f.StringVar(&o.replicaBinary, "replica-binary", o.replicaBinary,
		"the same for replicas, such as /host/var/lib/longhorn/engine-binaries/<image>/longhorn")
	f.StringVar(&o.dataPath, "data-path", o.dataPath, "directory inside the v1 instance manager below which replicas keep their data, "+
		"such as /host/var/lib/longhorn/replicas")
	f.StringVar(&o.backingFile, "backing-file", o.backingFile,
		"a backing file inside the first v1 instance manager, not larger than --volume-size, whose first block is not empty")
	f.StringVar(&o.backupTarget, "backup-target", o.backupTarget,
		"URL of a backup target without credentials, such as nfs://server:/path; the backups of the run stay in it")
	f.StringVar(&o.frontendV1, "frontend-v1", o.frontendV1, "frontend of v1 volumes")
	f.StringVar(&o.frontendV2, "frontend-v2", o.frontendV2, "frontend of v2 volumes: a block device")
	f.Int64Var(&o.volumeSize, "volume-size", o.volumeSize,
		"size of the volumes, in bytes; larger ones make rebuilds long enough to be interrupted")
	f.StringVar(&o.disk.Device, "disk-device", o.disk.Device,
		"block device of the v2 instance manager's node; without --destroy-disk-content it is only loaded, by --disk-uuid")
	f.StringVar(&o.disk.UUID, "disk-uuid", o.disk.UUID, "UUID of the lvstore on --disk-device")
	f.StringVar(&o.disk.Driver, "disk-driver", "aio", "driver of the devices")
	f.StringVar(&o.second.Device, "second-disk-device", o.second.Device, "block device of the second v2 instance manager's node")
	f.StringVar(&o.spareDevice, "spare-device", o.spareDevice, "one more block device of the v2 instance manager's node")
	f.BoolVar(&o.destroy, "destroy-disk-content", o.destroy, "the content of all these devices may be destroyed; they must be empty")
	f.StringVar(&o.content, "content", o.content, "how the content of volumes is compared: device (the suite runs on the first managers' "+
		"node), socket (v1 with --frontend-v1=socket) or none")
	f.StringToStringVar(&o.roots, "socket-root", o.roots, "ADDRESS=DIRECTORY: where the root of the node of a v1 manager is found, for "+
		"--content=socket, such as /proc/<process>/root (repeatable)")
	f.StringVar(&o.devicePrefix, "device-prefix", o.devicePrefix, "where the root of that node is mounted, for --content=device")
	f.StringVar(&o.restartCommand, "restart-command", o.restartCommand,
		"shell command that restarts the instance manager at $MANAGER ($DATA_ENGINE) at the same address")
	f.StringVar(&o.cutCommand, "cut-command", o.cutCommand,
		"shell command that drops, silently, what passes between the node of $MANAGER and the other manager's")
	f.StringVar(&o.joinCommand, "join-command", o.joinCommand, "shell command that undoes --cut-command")
	f.DurationVar(&o.patience, "patience", o.patience, "how long to wait for something that has to happen")
	f.DurationVar(&o.observation, "observation", o.observation, "how long to watch that something does not happen")
	f.DurationVar(&o.outage, "outage", o.outage, "how long an engine without I/O keeps a replica in mode RW whose link is cut")
	f.DurationVar(&o.limit, "limit", o.limit, "how long one check may take")
	f.StringVar(&o.id, "id", o.id, "part of the name of every object, conf-<id>-…; empty draws one; that of an earlier run adopts what it "+
		"left behind")
	f.StringVar(&o.pattern, "run", o.pattern, "run only the checks whose ID matches this regular expression")
	f.BoolVar(&o.list, "list", o.list, "list the checks, and run none")
	f.StringVarP(&o.output, "output", "o", o.output, "text or json")
	f.BoolVar(&o.record, "record", o.record, "write what passed on a real server to the ledger")
	f.StringVar(&o.ledger, "ledger", o.ledger, "the ledger's file")
}

// target connects to the managers that the flags name.
func (o *options) target(ctx context.Context) (*target.Target, error) {
	secure, err := tlsConfig(o.tlsDirectory)
	if err != nil {
		return nil, err
	}
	o.second.Driver = o.disk.Driver
	t := &target.Target{TLS: secure, EngineBinary: o.engineBinary, ReplicaBinary: o.replicaBinary, DataPath: o.dataPath,
		BackingFile: o.backingFile, BackupTarget: o.backupTarget,
		FrontendV1: o.frontendV1, FrontendV2: o.frontendV2, VolumeSize: o.volumeSize, Disk: o.disk, SecondDisk: o.second,
		SpareDevice: o.spareDevice,
		Destroy:     o.destroy, Patience: o.patience, Observation: o.observation, Outage: o.outage,
		Lab: target.CommandLab{RestartCommand: o.restartCommand, CutCommand: o.cutCommand, JoinCommand: o.joinCommand}}
	for _, m := range []struct {
		host, engine string
		into         **target.Manager
	}{{o.v1, target.V1, &t.V1}, {o.v1Second, target.V1, &t.V1Second}, {o.v2, target.V2, &t.V2}, {o.v2Second, target.V2, &t.V2Second}} {
		if m.host == "" {
			continue
		}
		var transport credentials.TransportCredentials
		if secure != nil {
			transport = credentials.NewTLS(secure)
		}
		if *m.into, err = target.Dial(ctx, m.host, m.engine, o.portOffset, transport); err != nil {
			return nil, errors.Join(err, t.Close())
		}
	}
	switch o.content {
	case "device":
		t.Content = target.DeviceContent{Prefix: o.devicePrefix, Here: t.FirstHosts()}
	case "socket":
		t.Content = target.SocketContent{Roots: o.roots}
	case "none":
	default:
		return nil, errors.Join(fmt.Errorf("--content is %q, neither device, socket nor none", o.content), t.Close())
	}
	if len(t.Managers()) == 0 {
		return nil, errors.New("there is nothing to check: give --simulator, or --v1, --v2 or both")
	}
	return t, nil
}

// tlsConfig reads the files as the secret longhorn-grpc-tls has them; nil for no directory.
func tlsConfig(directory string) (*tls.Config, error) {
	if directory == "" {
		return nil, nil
	}
	authority, err := os.ReadFile(filepath.Join(directory, "ca.crt"))
	if err != nil {
		return nil, fmt.Errorf("reading the certificate authority: %w", err)
	}
	roots := x509.NewCertPool()
	if !roots.AppendCertsFromPEM(authority) {
		return nil, fmt.Errorf("%s holds no certificate", filepath.Join(directory, "ca.crt"))
	}
	pair, err := tls.LoadX509KeyPair(filepath.Join(directory, "tls.crt"), filepath.Join(directory, "tls.key"))
	if err != nil {
		return nil, fmt.Errorf("reading the client's certificate: %w", err)
	}
	return &tls.Config{MinVersion: tls.VersionTLS13, ServerName: imclient.ServerName, RootCAs: roots,
			Certificates: []tls.Certificate{pair}},
		nil
}
