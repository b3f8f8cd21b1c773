package machine

import (
	"fmt"
	"slices"

	"drover.dev/drover/shared/api/v1beta2"
)

// deletion takes a deleted volume down: it is detached, then its objects are deleted, and its finalizer is dropped when nothing is left. It
// does not rely on the garbage collector.
type deletion struct{ *draft }

func (d deletion) decide() {
	d.state = v1beta2.VolumeStateDeleting
	if d.Attachment != nil {
		d.remove(d.Attachment)
	}
	d.deleteCloneSnapshot()
	if !(closing{d.draft}).close() {
		return
	}
	d.current, d.migration, d.faulted = "", "", false
	for _, f := range d.Frontends {
		d.remove(f)
	}
	for _, e := range d.Engines {
		d.remove(e)
	}
	replicas := slices.Concat(d.Replicas, d.seconds)
	for _, r := range replicas {
		if r.DeletionTimestamp == nil {
			d.add(Write{Kind: Delete, Stage: StageRemove, Object: r})
		}
	}
	switch {
	case len(replicas) > 0:
		d.wait(v1beta2.ReasonWaitingForReplicas,
			fmt.Sprintf("Waiting for the end of %d replicas; see their condition DataRemoved.", len(replicas)))
	case len(d.Engines)+len(d.Frontends) > 0 || d.Attachment != nil:
		d.wait(v1beta2.ReasonWaitingForEngine, "Waiting for the end of the volume's engine and attachment.")
	case d.Snapshots > 0:
		d.wait(v1beta2.ReasonWaitingForSnapshots,
			fmt.Sprintf("Waiting for the end of %d Snapshots, first %s; snapshot-controller must run for them to go. "+
				"See kubectl -n %s get lhsnap --field-selector spec.volume=%s.", d.Snapshots, d.FirstSnapshot, d.Volume.Namespace, d.Volume.Name))
	default:
		d.add(Write{Kind: DropFinalizer, Stage: StageRemove, Object: d.Volume})
	}
}
