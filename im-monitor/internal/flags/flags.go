// Package flags is im-monitor's own part of the command line, and what is built from it.
package flags

import (
	"fmt"
	"time"

	"github.com/spf13/pflag"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"drover.dev/drover/im-monitor/internal/diskcontroller"
	"drover.dev/drover/im-monitor/internal/engineimage"
	"drover.dev/drover/im-monitor/internal/enginepoll"
	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/instancecontroller"
	"drover.dev/drover/im-monitor/internal/instancemanager"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/orphan"
	"drover.dev/drover/im-monitor/internal/orphancontroller"
	"drover.dev/drover/im-monitor/internal/removalcontroller"
	"drover.dev/drover/im-monitor/internal/setting"
	"drover.dev/drover/shared/managerimage"
)

// Options are the values of the flags.
type Options struct {
	TLSDirectory string
	AbsenceGap   time.Duration
	V2Settle     time.Duration
	V2Quiet      time.Duration
	SafetyPeriod time.Duration
	ListTimeout  time.Duration
	// ManageInstances lets im-monitor start and stop what Engine, EngineFrontend and Replica objects ask for.
	ManageInstances bool
	Manager         instancemanager.Options
	// Pods are the settings of instance-manager pods while no Setting is there.
	Pods     setting.Pods
	profiles map[string]string
	// plaintextOfUnknown allows plaintext on two ports of images of unknown release.
	plaintextOfUnknown bool
	Orphan             orphancontroller.Options
	Instance           instancecontroller.Options
	Engine             enginepoll.Options
	Disk               diskcontroller.Options

	// locks are shared by all executors that change instances.
	locks execute.Locks
}

// Add registers the flags.
func (o *Options) Add(flags *pflag.FlagSet) {
	o.Manager = instancemanager.DefaultOptions()
	flags.StringVar(&o.TLSDirectory, "tls-dir", "",
		"directory with ca.crt, tls.crt and tls.key for mutual TLS with instance managers; once files were there, plaintext is refused")
	flags.BoolVar(&o.Manager.RequireTLS, "require-tls", false,
		"end at once where --tls-dir has no files, instead of speaking plaintext, and let no instance-manager pod start without its TLS "+
			"secret")
	flags.BoolVar(&o.plaintextOfUnknown, "allow-plaintext-of-unknown-images", false,
		"while TLS is used: call the ports 8502 and 8504 of a v2 instance manager in plaintext if its image names no release and it answers a "+
			"TLS handshake in plaintext, as images up to v1.12.0 do")
	flags.DurationVar(&o.AbsenceGap, "absence-gap", 5*time.Second, "time between two lists that prove an instance absent")
	flags.DurationVar(&o.V2Settle, "v2-settle", 30*time.Second,
		"age of a v2 connection, and time that a v2 disk has been ready in it, before a list proves anything absent")
	flags.DurationVar(&o.V2Quiet, "v2-quiet", 10*time.Second,
		"time without a creation or deletion of a replica at a v2 instance manager before a list proves a replica absent")
	flags.DurationVar(&o.SafetyPeriod, "safety-list-period", 10*time.Minute,
		"longest time without reading an instance manager's list (jittered by a fifth)")
	flags.DurationVar(&o.ListTimeout, "list-timeout", 10*time.Second, "deadline of a call that reads from an instance manager")
	flags.BoolVar(&o.ManageInstances, "manage-instances", true,
		"start and stop the instances that Engines, EngineFrontends and Replicas ask for, and write their status; false where another "+
			"agent still does, and only orphans are looked after")
	o.Orphan.AddFlags(flags)
	o.Instance.AddFlags(flags)
	o.Engine.AddFlags(flags)
	o.Disk.AddFlags(flags)
	m := &o.Manager
	flags.DurationVar(&m.UnreachableAfter, "unreachable-after", m.UnreachableAfter,
		"how long no list can be read before an instance manager is reported unreachable")
	flags.DurationVar(&m.EngineLossPause, "engine-loss-pause", m.EngineLossPause,
		"how long after a volume lost its engine no idle instance manager is replaced on a node with one of its replicas")
	flags.StringVar(&m.ServiceAccount, "instance-manager-service-account", m.ServiceAccount,
		"service account of the pods of instance managers and engine images")
	flags.StringVar(&m.PullSecret, "instance-manager-pull-secret", "",
		"image pull secret of the pods of instance managers and engine images; empty: that of the setting registry-secret")
	flags.StringVar(&m.TLSSecret, "instance-manager-tls-secret", m.TLSSecret,
		"secret that instance-manager pods mount at /tls-files/, where it exists")
	flags.StringVar(&m.ControlPath, "control-path", m.ControlPath,
		"Longhorn's control path on the host: the directory of engine-binaries/ and unix-domain-socket/")
	flags.StringToStringVar(&o.profiles, "v2-image-profiles", nil,
		"how v2 pods of an image are started, IMAGE=PROFILE: direct, wrapper, wrapper-without-small-pool or refused (repeatable); "+
			"otherwise the tag decides")
	o.addDefaultsOfSettings(flags)
}

// addDefaultsOfSettings registers the flags that count while a Setting does not exist.
func (o *Options) addDefaultsOfSettings(flags *pflag.FlagSet) {
	o.Pods = setting.Defaults().Pods
	spdk := &o.Pods.SPDK
	flags.BoolVar(&spdk.HugePages, "v2-huge-pages", spdk.HugePages,
		"give v2 instance-manager pods 2 MiB huge pages, unless the setting data-engine-hugepage-enabled is there")
	flags.IntVar(&spdk.MemoryMiB, "v2-memory-mib", spdk.MemoryMiB,
		"memory of SPDK in MiB, in huge pages where those are on, unless the setting data-engine-memory-size is there")
	flags.StringVar(&spdk.CPUMask, "v2-cpu-mask", spdk.CPUMask,
		"CPU mask of SPDK where neither the InstanceManager nor the setting data-engine-cpu-mask has one")
	flags.Float64Var(&o.Pods.CPUPercent, "instance-manager-cpu-percent", o.Pods.CPUPercent,
		"part of a node's allocatable CPU that a pod requests where the Node does not set a request, unless the setting "+
			"guaranteed-instance-manager-cpu is there")
}

// PodDefaults returns the settings of pods that are in force while their Settings do not exist.
func (o *Options) PodDefaults() setting.Pods {
	out := o.Pods
	out.CPUPercentV2 = out.CPUPercent
	if mask, err := managerimage.ParseCPUMask(out.SPDK.CPUMask); err == nil { // Validate refuses all others
		out.SPDK.CPUMask = mask
	}
	return out
}

// ManagerOptions returns the options of instance managers and their pods.
func (o *Options) ManagerOptions() (instancemanager.Options, error) {
	out, err := o.Manager, error(nil)
	if out.Profiles, err = managerimage.ParseDeclared(o.profiles); err != nil {
		return out, fmt.Errorf("--v2-image-profiles: %w", err)
	}
	return out, nil
}

// EngineImageOptions returns the options of engine images, whose pods are like those of instance managers.
func (o *Options) EngineImageOptions() engineimage.Options {
	return engineimage.Options{ServiceAccount: o.Manager.ServiceAccount, PullSecret: o.Manager.PullSecret, ControlPath: o.Manager.ControlPath}
}

// Dialer makes connections to instance managers.
func (o *Options) Dialer(mayCall func() error) (*imclient.Dialer, error) {
	credentials, err := imclient.NewCredentials(o.TLSDirectory)
	if err != nil {
		return nil, err
	}
	if o.Manager.RequireTLS && !credentials.Secure() { // once secure, they stay so
		return nil, fmt.Errorf("--require-tls: %s has none of ca.crt, tls.crt and tls.key: is there a Secret longhorn-grpc-tls?",
			o.TLSDirectory)
	}
	return imclient.NewDialer(imclient.Options{
		Credentials: credentials, RequireTLS: o.Manager.RequireTLS, PlaintextOfUnknown: o.plaintextOfUnknown, ListTimeout: o.ListTimeout,
		MayCall: mayCall, Metrics: imclient.NewMetrics(metrics.Registry),
	}), nil
}

// Inventory builds the inventory that the flags describe, and shows it in the metrics. It is not started.
func (o *Options) Inventory(dialer *imclient.Dialer, disks func(node string) ([]inventory.NodeDisk, bool),
	c clock.Clock) *inventory.Inventory {
	known := inventory.New(inventory.Config{
		Connect: func(t inventory.Target) (imclient.Client, error) {
			return dialer.Connect(t.Address, t.DataEngine, t.TLS)
		},
		AskDisk: dialer.Disk, ListReplicas: dialer.DiskReplicas, DeleteReplica: dialer.DeleteDiskReplica, Disks: disks,
		AbsenceGap: o.AbsenceGap, Settle: o.V2Settle, Quiet: o.V2Quiet, CallPatience: o.Orphan.PostElectionDelay,
		SafetyPeriod: o.SafetyPeriod, Clock: c,
	})
	metrics.Registry.MustRegister(known)
	return known
}

// DiskOptions are those of v2 disks, with the inventory's times.
func (o *Options) DiskOptions() diskcontroller.Options {
	out := o.Disk
	out.Period, out.Settle, out.Gap = o.SafetyPeriod, o.V2Settle, o.AbsenceGap
	return out
}

// OrphanOptions are those of the evaluation, with the inventory's rules of absence.
func (o *Options) OrphanOptions() orphancontroller.Options {
	out := o.Orphan
	out.Rules = orphan.Rules{AbsenceGap: o.AbsenceGap, V2Settle: o.V2Settle}
	out.Locks = &o.locks
	return out
}

// InstanceOptions are those of starting and stopping, with the evaluation's post-election delay and locks.
func (o *Options) InstanceOptions() instancecontroller.Options {
	out := o.Instance
	out.PostElectionDelay, out.Locks, out.ControlPath = o.Orphan.PostElectionDelay, &o.locks, o.Manager.ControlPath
	return out
}

// EngineOptions are those of polling engines, with the evaluation's post-election delay.
func (o *Options) EngineOptions() enginepoll.Options {
	out := o.Engine
	out.PostElectionDelay = o.Orphan.PostElectionDelay
	return out
}

// RemovalOptions are those of destroying the data of deleted replicas, with the evaluation's post-election delay and locks.
func (o *Options) RemovalOptions() removalcontroller.Options {
	return removalcontroller.Options{PostElectionDelay: o.Orphan.PostElectionDelay, Locks: &o.locks}
}
