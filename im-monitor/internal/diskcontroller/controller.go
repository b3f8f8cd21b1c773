// Package diskcontroller keeps Node.status.diskStatus of v2 disks as package disk decides, and loads those disks into the v2 instance
// manager of their node. It asks the server when a disk was added or changed, after each start of a server, soon again while a disk is
// being loaded, and else at most once in a period: that is the named poll of disks. Changes of Replicas only change what is promised,
// without a question.
package diskcontroller

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/spf13/pflag"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"drover.dev/drover/im-monitor/internal/disk"
	"drover.dev/drover/im-monitor/internal/enqueue"
	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/im-monitor/internal/settingcontroller"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/queue"
	"drover.dev/drover/shared/runkit"
)

// +kubebuilder:rbac:groups=longhorn.io,resources=nodes,verbs=get;list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=instancemanagers;replicas,verbs=list;watch,namespace=longhorn-system
// +kubebuilder:rbac:groups=longhorn.io,resources=nodes/status,verbs=patch,namespace=longhorn-system

const (
	// workers are many, since a call about a disk blocks while the server works on that disk.
	workers = 32
	// byNode finds v2 InstanceManagers and v2 Replicas by spec.nodeID.
	byNode = "v2-node"
	// byDisk finds v2 Replicas by spec.diskID, and Nodes by the UUIDs of their disks.
	byDisk = "v2-disk"
)

var indexes = []kube.Index{
	kube.Shared(kube.IndexBy(&v1beta2.InstanceManager{}, byNode, nodeOfManager)), kube.IndexBy(&v1beta2.Replica{}, byNode, nodeOfReplica),
	kube.IndexBy(&v1beta2.Replica{}, byDisk, diskOfReplica), kube.IndexByEach(&v1beta2.Node{}, byDisk, disksOfNode),
}

// nodeOfManager is the node of a v2 InstanceManager; empty of any other.
func nodeOfManager(im *v1beta2.InstanceManager) string {
	if im.Spec.DataEngine == v1beta2.DataEngineV2 {
		return im.Spec.NodeID
	}
	return ""
}

// nodeOfReplica is the node of a v2 Replica; empty of any other.
func nodeOfReplica(r *v1beta2.Replica) string {
	if r.Spec.DataEngine == v1beta2.DataEngineV2 {
		return r.Spec.NodeID
	}
	return ""
}

// diskOfReplica returns the UUID of the disk of a v2 Replica; empty of any other.
func diskOfReplica(r *v1beta2.Replica) string {
	if r.Spec.DataEngine == v1beta2.DataEngineV2 {
		return r.Spec.DiskID
	}
	return ""
}

func disksOfNode(n *v1beta2.Node) (uuids []string) {
	for _, d := range n.Status.DiskStatus {
		uuids = append(uuids, d.DiskUUID)
	}
	return uuids
}

// Service is the disk service of instance managers, but for DiskGet: what that answers the inventory wants to know, too.
type Service interface {
	CreateDisk(ctx context.Context, address string, disk imclient.DiskRef) (imclient.Disk, error)
	DeleteDisk(ctx context.Context, address string, disk imclient.DiskRef) error
	DiskReplicas(ctx context.Context, address string, disk imclient.DiskRef) (map[string]imclient.DiskReplica, error)
}

// Options are the times of the controller.
type Options struct {
	// Period is the longest time between two polls of a loaded disk, jittered by a fifth.
	Period time.Duration
	// Settle is how long a disk must have been ready before its list counts, Gap the time between two lists.
	Settle, Gap time.Duration
	// CallTimeout is how long a server may still execute a call that timed out; RetryMin and RetryMax bound the pause between two
	// attempts to load a disk that the server reports in error.
	CallTimeout, RetryMin, RetryMax time.Duration
}

// AddFlags registers the flags of this controller.
func (o *Options) AddFlags(flags *pflag.FlagSet) {
	flags.DurationVar(&o.CallTimeout, "disk-call-timeout", 3*time.Minute,
		"how long an attempt to load a v2 disk is waited for when its answer is lost")
	flags.DurationVar(&o.RetryMin, "disk-retry-min", 30*time.Second,
		"first pause before a v2 disk is loaded again that the server could not load; it doubles")
	flags.DurationVar(&o.RetryMax, "disk-retry-max", 10*time.Minute,
		"longest pause before a v2 disk is loaded again that the server could not load")
}

type reconciler struct {
	Options
	rt       *runkit.Runtime
	settings *settingcontroller.Source
	known    inventory.Store
	ask      inventory.AskDisk
	service  Service
	random   func() float64
	memory   memory
	mapper   kube.Mapper
	queue    enqueue.Queue[reconcile.Request]
}

// Setup registers the controller of v2 disks.
func Setup(ctx context.Context, rt *runkit.Runtime, settings *settingcontroller.Source, known inventory.Store, ask inventory.AskDisk,
	service Service,
	options Options) error {
	s := &reconciler{Options: options, rt: rt, settings: settings, known: known, ask: ask, service: service, random: rand.Float64,
		mapper: kube.Mapper{Reader: rt.Client, Namespace: rt.Namespace}}
	if err := rt.AddIndexes(ctx, indexes...); err != nil {
		return err
	}
	known.Subscribe(func(change inventory.Change) {
		if change.Whole && change.Node != "" { // a server began to answer, or ended
			s.queue.Add(s.mapper.Request(change.Node))
		}
	})
	err := ctrl.NewControllerManagedBy(rt.Manager).Named("disk").
		WithOptions(queue.Options(workers)).
		For(&v1beta2.Node{}, builder.WithPredicates(predicate.Or(predicate.GenerationChangedPredicate{}, kube.OnChange(ready),
			kube.OnChange(leftOver)))).
		Watches(&v1beta2.InstanceManager{}, s.mapper.To(ofManager), builder.WithPredicates(kube.OnChange(serviceFacts))).
		Watches(&v1beta2.Replica{}, s.mapper.To(s.ofReplica), builder.WithPredicates(kube.OnChange(place))).
		Watches(&v1beta2.Setting{}, s.mapper.To(s.allNodes), builder.WithPredicates(pressureSettings())).
		WatchesRawSource(source.TypedFunc[reconcile.Request](s.queue.Start)).
		Complete(s)
	if err != nil {
		return fmt.Errorf("setting up the disk controller: %w", err)
	}
	return nil
}

func ofManager(_ context.Context, obj client.Object) []string {
	return []string{nodeOfManager(obj.(*v1beta2.InstanceManager))}
}

// ofReplica returns the node of a v2 Replica, and any other node that has a disk with the UUID of the Replica's disk.
func (s *reconciler) ofReplica(ctx context.Context, obj client.Object) []string {
	r := obj.(*v1beta2.Replica)
	out := []string{nodeOfReplica(r)}
	if uuid := diskOfReplica(r); uuid != "" {
		out = append(out, s.mapper.Names(ctx, &v1beta2.NodeList{}, client.MatchingFields{byDisk: uuid})...)
	}
	return out
}

// allNodes are those of the cache: a setting changed that counts for each of them.
func (s *reconciler) allNodes(ctx context.Context, _ client.Object) []string {
	return s.mapper.Names(ctx, &v1beta2.NodeList{})
}

// ready is what the condition Ready of a Node reports.
func ready(n *v1beta2.Node) (out [2]string) {
	if c := conditions.Get(n.Status.Conditions, v1beta2.NodeReady); c != nil {
		out = [2]string{string(c.Status), c.Message}
	}
	return out
}

// leftOver returns how many v2 disks of the spec still have the status of a v1 disk: such a disk is loaded once its status is removed.
func leftOver(n *v1beta2.Node) (count int) {
	for key, spec := range n.Spec.Disks {
		if spec.DiskType == v1beta2.DiskTypeBlock && disk.IsLeftOver(n.Status.DiskStatus[key]) {
			count++
		}
	}
	return count
}

// serving is where a server is, and whether it answers.
type serving struct {
	state, ip string
	answers   bool
}

func serviceFacts(im *v1beta2.InstanceManager) serving {
	return serving{im.Status.CurrentState, im.Status.IP, answers(im)}
}

func answers(im *v1beta2.InstanceManager) bool {
	return im.Status.CurrentState == v1beta2.InstanceManagerStateRunning && im.Status.IP != "" &&
		conditions.IsTrue(im.Status.Conditions, v1beta2.InstanceManagerReachable)
}
