package main

import (
	"fmt"
	"io"
	"log/slog"
	"maps"
	"slices"
	"time"

	"github.com/spf13/pflag"

	"drover.dev/drover/im-monitor/simulator/internal/dataplane"
	"drover.dev/drover/shared/api/v1beta2"
)

// options are the simulator's flags.
type options struct {
	kubeconfig, namespace            string
	control, tlsDirectory            string
	server, mismatchCode             string
	nodes                            int
	nodeNames                        []string
	nodePrefix                       string
	portOffset, workers              int
	startTime, stopTime, linger      time.Duration
	listCycle, diskCreateTime        time.Duration
	heartbeat, statusPeriod, silence time.Duration
	replicaTimeout, copyTime         time.Duration
	noticeGap, pathLoss              time.Duration
	deadTarget, deadReplica          time.Duration
	frontendEnd, killTime            time.Duration
	backupStore, hosts               string
	writers, defaultDisks            bool
	standalone                       bool
	stickyAddresses                  bool
	engineImages                     map[string]int
	logLevel, logFormat              string
}

func defaults() *options {
	return &options{namespace: v1beta2.DefaultNamespace, control: defaultControl, server: string(dataplane.Conforming),
		mismatchCode: string(dataplane.FailedPrecondition), nodePrefix: "node-", workers: 16, startTime: 50 * time.Millisecond,
		linger: 100 * time.Millisecond, copyTime: 100 * time.Millisecond, defaultDisks: true, noticeGap: 5 * time.Millisecond,
		pathLoss: 30 * time.Second, deadTarget: 119 * time.Second, deadReplica: 30 * time.Second,
		killTime:  time.Minute,
		listCycle: 3 * time.Second, diskCreateTime: time.Second, heartbeat: 10 * time.Second, statusPeriod: 5 * time.Minute,
		silence:  40 * time.Second,
		logLevel: "info", logFormat: "text"}
}

func (o *options) flags(f *pflag.FlagSet) {
	f.StringVar(&o.kubeconfig, "kubeconfig", o.kubeconfig, "API server to play the kubelets for; empty means $KUBECONFIG, then in-cluster")
	f.BoolVar(&o.standalone, "standalone", o.standalone,
		"do without an API server: every node gets one instance manager of each data engine at once, and nothing is a pod of Kubernetes")
	f.StringVar(&o.namespace, "namespace", o.namespace, "namespace of the instance-manager pods")
	f.StringVar(&o.control, "control", o.control, "loopback address of the control endpoint; port 0 picks a free one, which is printed")
	f.StringVar(&o.tlsDirectory, "tls-dir", o.tlsDirectory,
		"directory with ca.crt, tls.crt, tls.key for mutual TLS 1.3; empty means plaintext")
	f.StringVar(&o.server, "server", o.server, "conforming: v2 UUIDs reported and checked; today: v2 UUIDs empty, deletions unverified")
	f.StringVar(&o.mismatchCode, "mismatch-code", o.mismatchCode,
		"answer of a conforming v2 server to a deletion under a wrong UUID: FailedPrecondition or NotFound")
	f.IntVar(&o.nodes, "nodes", o.nodes, "make so many nodes, named by the prefix and a number from 1 on")
	f.StringSliceVar(&o.nodeNames, "node", o.nodeNames, "make a node of this name (repeatable)")
	f.StringVar(&o.nodePrefix, "node-prefix", o.nodePrefix, "prefix of the names of --nodes")
	f.IntVar(&o.portOffset, "port-offset", o.portOffset, "added to the ports 8501 to 8504, for a proxy that takes the real ones")
	f.IntVar(&o.workers, "workers", o.workers, "pods and nodes dealt with at once")
	f.DurationVar(&o.startTime, "start-time", o.startTime, "how long a new instance is starting")
	f.DurationVar(&o.stopTime, "stop-time", o.stopTime, "how long a deleted instance is stopping")
	f.DurationVar(&o.linger, "linger", o.linger, "how long a deleted instance is still listed as stopped")
	f.DurationVar(&o.listCycle, "spdk-list-cycle", o.listCycle,
		"how often a v2 server polls its loaded disks and rebuilds its list of replicas")
	f.DurationVar(&o.diskCreateTime, "disk-create-time", o.diskCreateTime, "how long a v2 server works on a disk after DiskCreate")
	f.DurationVar(&o.noticeGap, "notice-gap", o.noticeGap, "least time between two notices of a watch; what changes meanwhile is one")
	f.DurationVar(&o.pathLoss, "path-loss-time", o.pathLoss,
		"how long a node's kernel tries to connect a frontend again to a target that does not answer, until it drops that path")
	f.DurationVar(&o.deadTarget, "dead-target-time", o.deadTarget,
		"how long a v2 server works on the creation of a frontend whose target does not answer")
	f.DurationVar(&o.deadReplica, "dead-replica-time", o.deadReplica,
		"how long a v2 server works on the creation of an engine, for each replica that does not answer; its lists wait meanwhile")
	f.DurationVar(&o.frontendEnd, "frontend-end-time", o.frontendEnd,
		"how long a v2 server works on the deletion of a frontend whose engine has lost a replica; its lists wait meanwhile (a real one "+
			"once took 82s)")
	f.DurationVar(&o.killTime, "kill-time", o.killTime,
		"how long after the deletion of a v1 process that does not end (fault stuck-stop) another deletion ends it")
	f.DurationVar(&o.replicaTimeout, "replica-timeout", o.replicaTimeout,
		"how long an engine waits for a replica that does not answer until it is in mode ERR; I/O waits with it (a real v1 engine: "+
			"about 2s)")
	f.DurationVar(&o.copyTime, "copy-time", o.copyTime,
		"how long copying a volume takes: rebuild, clone, backup, restore, purge, expansion")
	f.StringVar(&o.backupStore, "backupstore", o.backupStore,
		"directory of the backup targets that are no file:///DIRECTORY; empty means that they cannot be reached")
	f.StringVar(&o.hosts, "hosts", o.hosts,
		"directory with the root of each node's file systems, NODE/host: v1 replicas keep their directories there, and the disks of "+
			"Longhorn Nodes are left to disk-controller; empty means that each node has one v1 disk without files")
	f.BoolVar(&o.writers, "writers", o.writers, "let every volume that gets a frontend have a workload that never stops writing")
	f.DurationVar(&o.heartbeat, "heartbeat", o.heartbeat, "how often each node's Lease is renewed; 0 means never")
	f.DurationVar(&o.statusPeriod, "status-period", o.statusPeriod, "how often each node's status is written unchanged; 0 means never")
	f.DurationVar(&o.silence, "node-grace", o.silence, "how long a node that is partitioned or dead stays Ready")
	f.BoolVar(&o.defaultDisks, "default-disks", o.defaultDisks,
		"give every node a blank device /dev/disk-1, and every Longhorn Node that has no disks a filesystem disk and that device as a "+
			"block disk")
	f.StringToIntVar(&o.engineImages, "engine-image", o.engineImages,
		"IMAGE=CLI: the CLI API version of an engine image's binary (repeatable; others have 12)")
	f.BoolVar(&o.stickyAddresses, "sticky-addresses", o.stickyAddresses, "give a pod the address that a pod of the same name had before")
	f.StringVar(&o.logLevel, "log-level", o.logLevel, "debug, info, warn or error")
	f.StringVar(&o.logFormat, "log-format", o.logFormat, "text or json")
}

// behaviour is what the flags report about servers.
func (o *options) behaviour() (dataplane.Behaviour, error) {
	mode, code := dataplane.ServerMode(o.server), dataplane.Code(o.mismatchCode)
	if !slices.Contains([]dataplane.ServerMode{dataplane.Conforming, dataplane.Today}, mode) {
		return dataplane.Behaviour{}, fmt.Errorf("--server is %q, neither conforming nor today", o.server)
	}
	if code != dataplane.FailedPrecondition && code != dataplane.NotFound {
		return dataplane.Behaviour{}, fmt.Errorf("--mismatch-code is %q, neither FailedPrecondition nor NotFound", o.mismatchCode)
	}
	if o.listCycle <= 0 || o.diskCreateTime < 0 {
		return dataplane.Behaviour{}, fmt.Errorf("--spdk-list-cycle is %s and --disk-create-time is %s: the first must be positive, the "+
			"second not negative",
			o.listCycle, o.diskCreateTime)
	}
	return dataplane.Behaviour{Mode: mode, StartTime: o.startTime, StopTime: o.stopTime, Linger: o.linger, ListCycle: o.listCycle,
		DiskCreateTime: o.diskCreateTime, MismatchCode: code, ReplicaTimeout: o.replicaTimeout, CopyTime: o.copyTime,
		BackupStore: o.backupStore, Hosts: o.hosts,
		Writers: o.writers, EngineImages: maps.Clone(o.engineImages), PathLoss: o.pathLoss,
		DeadTargetTime: o.deadTarget, DeadReplicaTime: o.deadReplica, FrontendEndTime: o.frontendEnd,
		KillTime: o.killTime}, nil
}

// names are the nodes that the flags ask for.
func (o *options) names() []string {
	out := slices.Clone(o.nodeNames)
	for n := 1; n <= o.nodes; n++ {
		out = append(out, fmt.Sprintf("%s%d", o.nodePrefix, n))
	}
	return out
}

func (o *options) logger(w io.Writer) (*slog.Logger, error) {
	var level slog.Level
	if err := level.UnmarshalText([]byte(o.logLevel)); err != nil {
		return nil, fmt.Errorf("--log-level: %w", err)
	}
	h := &slog.HandlerOptions{Level: level}
	switch o.logFormat {
	case "text":
		return slog.New(slog.NewTextHandler(w, h)), nil
	case "json":
		return slog.New(slog.NewJSONHandler(w, h)), nil
	}
	return nil, fmt.Errorf("--log-format is %q, neither text nor json", o.logFormat)
}
