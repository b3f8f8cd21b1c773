package machine

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/attach-controller/internal/abandoned"
	"drover.dev/drover/shared/api/v1beta2"
)

// remove takes a deleted volume down: it is detached, then its objects are deleted, and its finalizer is dropped when nothing is left. It
// does not rely on the garbage collector.
func (p *pass) remove() {
	if p.state != v1beta2.VolumeStateDeleting {
		p.state = v1beta2.VolumeStateDeleting
	}
	if p.Attachment != nil {
		p.drop(p.Attachment)
	}
	p.dropCloneSnapshot()
	if !p.close() {
		return
	}
	p.current, p.migration, p.faulted = "", "", false
	for _, f := range p.Frontends {
		p.drop(f)
	}
	for _, e := range p.Engines {
		p.drop(e)
	}
	for _, r := range p.Replicas {
		if r.DeletionTimestamp == nil {
			p.add(Write{Kind: Delete, Stage: StageRemove, Object: r})
		}
	}
	switch {
	case len(p.Replicas) > 0:
		p.wait(v1beta2.ReasonWaitingForReplicas,
			fmt.Sprintf("Waiting for the end of %d replicas; see their condition DataRemoved.", len(p.Replicas)))
	case len(p.Engines)+len(p.Frontends) > 0 || p.Attachment != nil:
		p.wait(v1beta2.ReasonWaitingForEngine, "Waiting for the end of the volume's engine and attachment.")
	case p.Snapshots > 0:
		p.wait(v1beta2.ReasonWaitingForSnapshots,
			fmt.Sprintf("Waiting for the end of %d Snapshots, first %s; snapshot-controller must run for them to go. "+
				"See kubectl -n %s get lhsnap --field-selector spec.volume=%s.", p.Snapshots, p.FirstSnapshot, p.Volume.Namespace, p.Volume.Name))
	default:
		p.add(Write{Kind: DropFinalizer, Stage: StageRemove, Object: p.Volume})
	}
}

// drop deletes an object, and drops its finalizer once it is being deleted. No instance of it runs any more.
func (p *pass) drop(object metav1.Object) {
	if object.GetDeletionTimestamp() == nil {
		p.add(Write{Kind: Delete, Stage: StageRemove, Object: object})
		return
	}
	if _, other := object.(*v1beta2.VolumeAttachment); other {
		return
	}
	if e, ok := object.(*v1beta2.Engine); ok {
		p.abandon(e)
	}
	p.add(Write{Kind: DropFinalizer, Stage: StageRemove, Object: object})
}

// abandon records the instances of an engine that may still run: its node is not reachable, or an earlier instance of its name was left
// behind. Without its object, such an instance looks like one whose object was lost.
func (p *pass) abandon(e *v1beta2.Engine) {
	holder := abandoned.Holder{Name: e.Name, Volume: v1beta2.VolumeUIDOf(e), Node: e.Spec.NodeID}
	if i := ofEngine(e); i.nodeDown {
		holder.Node = ""
	}
	for _, r := range abandoned.Records(holder, p.Listed[e.Name], p.Now) {
		p.writes = append(p.writes, &Write{Kind: Abandon, Stage: StageAbandon, Object: e, Record: r})
	}
}
