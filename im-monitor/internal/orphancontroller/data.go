package orphancontroller

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/nodedisks"
	"drover.dev/drover/im-monitor/internal/orphan"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/lookup"
)

// dataKeys are the keys under which an Orphan of replica data is evaluated: one for each v2 InstanceManager of its node. Without one no
// instance manager can answer for the data; then it is evaluated under a key without an instance manager, which ends it.
func (s *base) dataKeys(ctx context.Context, o *v1beta2.Orphan) []orphan.Key {
	name := o.Spec.Parameters[v1beta2.OrphanParameterDataName]
	if !isBlockData(o) || name == "" {
		return nil
	}
	var list v1beta2.InstanceManagerList
	if err := lookup.ListShared(ctx, s.client, s.namespace, &list, client.MatchingFields{v2ByNode: o.Spec.NodeID}); err != nil {
		s.log.Error(err, "finding the instance managers of an orphan's node", "name", o.Name)
		return nil
	}
	if len(list.Items) == 0 {
		return []orphan.Key{{Name: name}}
	}
	keys := make([]orphan.Key, 0, len(list.Items))
	for i := range list.Items {
		keys = append(keys, orphan.Key{InstanceManager: list.Items[i].Name, Name: name})
	}
	return keys
}

// executionKeys are the keys under which an Orphan is executed. One of replica data is executed where an instance manager can be called:
// others of the node have no pod.
func (s *base) executionKeys(ctx context.Context, o *v1beta2.Orphan) []orphan.Key {
	keys := s.orphanKeys(ctx, o)
	if !isBlockData(o) {
		return keys
	}
	return answering(keys, func(k orphan.Key) bool {
		_, known := s.store.Target(k.InstanceManager)
		return known
	})
}

// answering are the keys that are known. Where none is, the first one by its instance manager reports that.
func answering(keys []orphan.Key, known func(orphan.Key) bool) []orphan.Key {
	out := slices.DeleteFunc(slices.Clone(keys), func(k orphan.Key) bool { return !known(k) })
	if len(out) > 0 || len(keys) == 0 {
		return out
	}
	return []orphan.Key{slices.MinFunc(keys, func(a, b orphan.Key) int { return strings.Compare(a.InstanceManager, b.InstanceManager) })}
}

// isBlockData leaves orphaned directories alone: im-monitor does not see the file systems of hosts.
func isBlockData(o *v1beta2.Orphan) bool {
	return o.Spec.OrphanType == v1beta2.OrphanTypeReplicaData && o.Spec.Parameters[v1beta2.OrphanParameterDiskType] == v1beta2.DiskTypeBlock
}

// dataKeysOf are the keys of the Orphans of replica data that an index finds.
func (s *base) dataKeysOf(ctx context.Context, index, value string) []orphan.Key {
	orphans, err := s.cached(ctx, index, value)
	if err != nil {
		s.log.Error(err, "finding the orphans of replica data", "index", index, "value", value)
	}
	var keys []orphan.Key
	for _, o := range orphans {
		keys = append(keys, s.dataKeys(ctx, o)...)
	}
	return keys
}

func (s *base) dataKeysOfNode(ctx context.Context, node string) []orphan.Key {
	return s.dataKeysOf(ctx, byDataNode, node)
}

// ifBlockData is the key of an Orphan of replica data on a block disk in an index; empty of any other.
func ifBlockData(o *v1beta2.Orphan, key string) string {
	if isBlockData(o) {
		return key
	}
	return ""
}

// nodeOf reads a Node, as far as a replica of this name is concerned.
func nodeOf(n *v1beta2.Node, replica string) *orphan.Node {
	out := &orphan.Node{Down: v1beta2.IsNodeDown(n), Deleting: deleting(n), Evicting: n.Spec.EvictionRequested}
	for _, d := range nodedisks.Of(n) {
		recorded := n.Status.DiskStatus[d.Name]
		out.Disks = append(out.Disks, orphan.Disk{
			Name: d.Name, Path: recorded.DiskPath, UUID: d.UUID, Evicting: n.Spec.Disks[d.Name].EvictionRequested,
			Ready:   conditions.IsTrue(recorded.Conditions, v1beta2.DiskReady) && recorded.DiskPath == d.Path,
			Failed:  recorded.Load == nil || recorded.Load.State == v1beta2.DiskLoadError,
			Foreign: recorded.AcknowledgedAt == "" || slices.Contains(recorded.AcknowledgedReplicas, replica),
		})
	}
	return out
}

// nodeFacts is what of a Node matters to the orphans on it, as a text that can be compared.
func nodeFacts(n *v1beta2.Node) string {
	acknowledged := map[string]int{}
	for name, d := range n.Status.DiskStatus {
		acknowledged[name] = len(d.AcknowledgedReplicas)
	}
	return fmt.Sprintf("%+v %v", *nodeOf(n, ""), slices.Sorted(maps.Keys(acknowledged))) + fmt.Sprint(acknowledged)
}

// diskOf is the disk of an Orphan of replica data, as the disk service names it.
func diskOf(o *v1beta2.Orphan, n *v1beta2.Node) imclient.DiskRef {
	return refOf(o.Spec.Parameters, n)
}

func refOf(parameters map[string]string, n *v1beta2.Node) imclient.DiskRef {
	name := parameters[v1beta2.OrphanParameterDiskName]
	ref := imclient.DiskRef{UUID: parameters[v1beta2.OrphanParameterDiskUUID]}
	ref.Name, ref.Path = name, parameters[v1beta2.OrphanParameterDiskPath]
	if n != nil {
		ref.Driver = n.Status.DiskStatus[name].DiskDriver
	}
	return ref
}

// onDisk reports whether the disk service lists a replica on the disk of an Orphan that is to be made. The server lists the replicas of all
// its disks; only those of this disk's UUID count.
func (s *base) onDisk(ctx context.Context, key orphan.Key, parameters map[string]string) bool {
	ctx, cancel := context.WithTimeout(ctx, execute.ListTimeout)
	defer cancel()
	replicas, err := s.store.DiskReplicas(ctx, key.InstanceManager, refOf(parameters, nil))
	if err != nil {
		s.logFor(key).V(1).Info("the disk service does not list the replicas of a disk", "reason", err.Error())
		return false
	}
	_, there := replicas[key.Name]
	return there
}

// sameData asks, right before the call, whether the disk is ready with its UUID and lists the replica: the call destroys by name alone.
func (r *executor) sameData(ctx context.Context, key orphan.Key, disk imclient.DiskRef) execute.Stop {
	ctx, cancel := context.WithTimeout(ctx, execute.ReadToCall)
	defer cancel()
	answer, err := r.store.AskDisk(ctx, key.InstanceManager, disk.DiskQuery)
	if err != nil {
		return execute.Fail(v1beta2.ReasonUnreachable, "%s does not answer for disk %s; it is retried automatically. The error: %v.",
			key.InstanceManager, disk.Name, err)
	}
	if answer.State != imclient.DiskReady || answer.UUID != disk.UUID {
		return execute.Fail(v1beta2.ReasonRefused, "Disk %s of %s is %s with UUID %q, not ready with UUID %s; no call was sent.",
			disk.Name, key.InstanceManager, answer.State, answer.UUID, disk.UUID)
	}
	replicas, err := r.store.DiskReplicas(ctx, key.InstanceManager, disk)
	if err != nil {
		return execute.Fail(v1beta2.ReasonUnreachable, "%s does not list the replicas of disk %s; it is retried automatically. The error: %v.",
			key.InstanceManager, disk.Name, err)
	}
	if _, there := replicas[key.Name]; !there {
		return execute.Stop{Result: execute.Disagreed}
	}
	return execute.Stop{}
}

// stillOnDisk is the failure of an earlier call after which the replica is listed all the same.
func (r *executor) stillOnDisk(o *v1beta2.Orphan, key orphan.Key) *orphan.Failure {
	if r.attempts.Of(o.UID).Calls == 0 {
		return nil
	}
	return &orphan.Failure{Reason: v1beta2.ReasonStillPresent,
		Message: fmt.Sprintf("%s took the deletion of the data of %s and still lists it; the call is repeated.", key.InstanceManager,
			key.Name)}
}
