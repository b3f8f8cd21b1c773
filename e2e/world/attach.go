package world

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// Order creates a volume as a user does: the Volume object and nothing else. attach-controller creates the rest. change may
// be nil.
func (w *World) Order(ctx context.Context, name, dataEngine string, replicas int, change func(*v1beta2.VolumeSpec)) error {
	if err := served(dataEngine); err != nil {
		return err
	}
	object := &v1beta2.Volume{}
	object.Name, object.Namespace = name, w.Namespace
	object.Spec = v1beta2.VolumeSpec{DataEngine: dataEngine, Size: VolumeSize, NumberOfReplicas: replicas, Frontend: "blockdev",
		AccessMode: v1beta2.AccessModeReadWriteOnce}
	if change != nil {
		change(&object.Spec)
	}
	if err := w.Admin.Create(ctx, object); err != nil {
		return fmt.Errorf("creating volume %s: %w", name, err)
	}
	// A volume with a data source is detached for a moment only.
	return w.WaitVolume(ctx, name, "to be created", 30*time.Second, func(v *v1beta2.Volume) string {
		return unless(v.Status.State != "" && v.Status.State != v1beta2.VolumeStateCreating, "it is %q", v.Status.State)
	})
}

// Ticket creates or changes one attachment ticket of a volume.
func (w *World) Ticket(ctx context.Context, volume, id, attacher, node string, parameters map[string]string) error {
	return w.Wait(ctx, "the VolumeAttachment of "+volume, 20*time.Second, func(ctx context.Context) (string, error) {
		attachment := &v1beta2.VolumeAttachment{}
		if err := w.Get(ctx, volume, attachment); err != nil {
			return "", err
		}
		ticket := map[string]any{"id": id, "type": attacher, "nodeID": node, "parameters": parameters,
			"generation": attachment.Spec.AttachmentTickets[id].Generation + 1}
		return "", w.patch(ctx, attachment, map[string]any{"spec": map[string]any{"attachmentTickets": map[string]any{id: ticket}}})
	})
}

// DropTicket removes one ticket of a volume.
func (w *World) DropTicket(ctx context.Context, volume, id string) error {
	attachment := &v1beta2.VolumeAttachment{}
	attachment.Name, attachment.Namespace = volume, w.Namespace
	return w.patch(ctx, attachment, map[string]any{"spec": map[string]any{"attachmentTickets": map[string]any{id: nil}}})
}

// Attach attaches a volume as a person with `kubectl` does: it writes a longhorn-api ticket, and waits until the volume is attached.
func (w *World) Attach(ctx context.Context, volume, node string, within time.Duration) error {
	if err := w.Ticket(ctx, volume, "by-hand", v1beta2.AttacherLonghornAPI, node, nil); err != nil {
		return err
	}
	return w.WaitAttached(ctx, volume, node, within)
}

// LetGo removes the ticket of Attach, and waits until the volume is detached.
func (w *World) LetGo(ctx context.Context, volume string, within time.Duration) error {
	if err := w.DropTicket(ctx, volume, "by-hand"); err != nil {
		return err
	}
	return w.WaitDetached(ctx, volume, within)
}

// explainTime bounds how long the objects of a volume are read for a message.
const explainTime = 10 * time.Second

// WaitVolume waits until check returns "" for the volume.
func (w *World) WaitVolume(ctx context.Context, name, what string, within time.Duration, check func(*v1beta2.Volume) string) error {
	return w.explained(ctx, name, w.Wait(ctx, "volume "+name+" "+what, within, func(ctx context.Context) (string, error) {
		volume := &v1beta2.Volume{}
		if err := w.Get(ctx, name, volume); err != nil {
			return "", err
		}
		return check(volume), nil
	}))
}

// explained adds to the error of a wait what a person would check next: the state of the volume and of its objects.
func (w *World) explained(ctx context.Context, volume string, failed error) error {
	if failed == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), explainTime)
	defer cancel()
	object := &v1beta2.Volume{}
	if err := w.Get(ctx, volume, object); err != nil {
		return fmt.Errorf("%w; %w", failed, err)
	}
	return fmt.Errorf("%w; %s", failed, w.explain(ctx, object))
}

// explain returns the state that a person would check next.
func (w *World) explain(ctx context.Context, volume *v1beta2.Volume) string {
	text := []string{fmt.Sprintf("volume: spec.nodeID %q, currentNodeID %q, %s, %s, %s", volume.Spec.NodeID, volume.Status.CurrentNodeID,
		volume.Status.State, volume.Status.Robustness, FormatConditions(volume.Status.Conditions))}
	attachment := &v1beta2.VolumeAttachment{}
	if err := w.Get(ctx, volume.Name, attachment); err == nil {
		text = append(text, "attachment: "+FormatConditions(attachment.Status.Conditions))
		for _, id := range slices.Sorted(maps.Keys(attachment.Spec.AttachmentTickets)) {
			answer := attachment.Status.AttachmentTicketStatuses[id]
			text = append(text, fmt.Sprintf("ticket %q: satisfied %t %s", id, answer.Satisfied, FormatConditions(answer.Conditions)))
		}
	}
	var engines v1beta2.EngineList
	var frontends v1beta2.EngineFrontendList
	var replicas v1beta2.ReplicaList
	for _, list := range []client.ObjectList{&engines, &frontends, &replicas} {
		if err := w.List(ctx, list, client.MatchingLabels{v1beta2.LabelVolume: v1beta2.VolumeLabelValue(volume.Name)}); err != nil {
			return err.Error()
		}
	}
	for _, e := range engines.Items {
		text = append(text, fmt.Sprintf("%s on %q: %s → %s, modes %v", e.Name, e.Spec.NodeID, e.Status.CurrentState, e.Spec.DesireState,
			e.Status.ReplicaModeMap))
	}
	for _, e := range frontends.Items {
		text = append(text, fmt.Sprintf("%s on %q: %s → %s", e.Name, e.Spec.NodeID, e.Status.CurrentState, e.Spec.DesireState))
	}
	for _, r := range replicas.Items {
		text = append(text, fmt.Sprintf("%s on %q: %s → %s, healthyAt %q failedAt %q%s", r.Name, r.Spec.NodeID, r.Status.CurrentState,
			r.Spec.DesireState, r.Spec.HealthyAt, r.Spec.FailedAt, conditionText(r.Status.Conditions)))
	}
	return strings.Join(text, "\n  ")
}

// conditionText formats conditions for messages.
func conditionText(list []v1beta2.Condition) string {
	var out strings.Builder
	for _, c := range list {
		fmt.Fprintf(&out, " %s=%s/%s (%s)", c.Type, c.Status, c.Reason, c.Message)
	}
	return out.String()
}

// WaitAttached waits until the volume is attached to the node.
func (w *World) WaitAttached(ctx context.Context, volume, node string, within time.Duration) error {
	return w.WaitVolume(ctx, volume, "to be attached to "+node, within, func(v *v1beta2.Volume) string {
		return unless(v.Status.State == v1beta2.VolumeStateAttached && v.Status.CurrentNodeID == node, "it is %q on %q", v.Status.State,
			v.Status.CurrentNodeID)
	})
}

// WaitDetached waits until the volume is detached.
func (w *World) WaitDetached(ctx context.Context, volume string, within time.Duration) error {
	return w.WaitVolume(ctx, volume, "to be detached", within, func(v *v1beta2.Volume) string {
		return unless(v.Status.State == v1beta2.VolumeStateDetached && v.Status.CurrentNodeID == "" && v.Spec.NodeID == "",
			"it is %q on %q", v.Status.State, v.Status.CurrentNodeID)
	})
}

// WaitRobust waits for the volume's robustness.
func (w *World) WaitRobust(ctx context.Context, volume, robustness string, within time.Duration) error {
	return w.WaitVolume(ctx, volume, "to be "+robustness, within, func(v *v1beta2.Volume) string {
		return unless(v.Status.Robustness == robustness, "it is %q", v.Status.Robustness)
	})
}

// WaitVolumeGone waits until the volume and everything that belongs to it is gone.
func (w *World) WaitVolumeGone(ctx context.Context, name string, within time.Duration) error {
	return w.explained(ctx, name, w.Wait(ctx, "the end of volume "+name, within, func(ctx context.Context) (string, error) {
		err := w.Get(ctx, name, &v1beta2.Volume{})
		if err == nil {
			return "it still exists", nil
		}
		if !apierrors.IsNotFound(err) {
			return "", err
		}
		return w.leftovers(ctx, client.MatchingLabels{v1beta2.LabelVolume: v1beta2.VolumeLabelValue(name)})
	}))
}

// leftovers names the first object of a volume that still exists.
func (w *World) leftovers(ctx context.Context, which ...client.ListOption) (string, error) {
	for _, list := range []client.ObjectList{&v1beta2.EngineList{}, &v1beta2.EngineFrontendList{}, &v1beta2.ReplicaList{},
		&v1beta2.VolumeAttachmentList{}} {
		if err := w.List(ctx, list, which...); err != nil {
			return "", err
		}
		if names := namesOf(list); len(names) > 0 {
			return fmt.Sprintf("%s is left", strings.Join(names, ", ")), nil
		}
	}
	return "", nil
}

// WaitTicket waits until a ticket's status is as given; an empty reason matches any.
func (w *World) WaitTicket(ctx context.Context, volume, id string, satisfied bool, reason string, within time.Duration) error {
	what := fmt.Sprintf("ticket %q of %s to be satisfied=%t %s", id, volume, satisfied, reason)
	return w.explained(ctx, volume, w.Wait(ctx, what, within, func(ctx context.Context) (string, error) {
		attachment := &v1beta2.VolumeAttachment{}
		if err := w.Get(ctx, volume, attachment); err != nil {
			return "", err
		}
		answer, ok := attachment.Status.AttachmentTicketStatuses[id]
		if !ok {
			return "it has no answer", nil
		}
		is := conditions.Reason(answer.Conditions, v1beta2.TicketSatisfied)
		return unless(answer.Satisfied == satisfied && (reason == "" || is == reason), "it is %t %s", answer.Satisfied, is), nil
	}))
}

// Snapshot requests a snapshot of a volume: the owner of a snapshot-controller's ticket.
func (w *World) Snapshot(ctx context.Context, volume, name string) error {
	object := &v1beta2.Snapshot{}
	object.Name, object.Namespace = name, w.Namespace
	object.Spec = v1beta2.SnapshotSpec{Volume: volume, CreateSnapshot: true}
	if err := w.Admin.Create(ctx, object); err != nil {
		return fmt.Errorf("creating snapshot %s of %s: %w", name, volume, err)
	}
	return nil
}

// Tickets are a volume's tickets by id.
func (w *World) Tickets(ctx context.Context, volume string) (map[string]v1beta2.AttachmentTicket, error) {
	attachment := &v1beta2.VolumeAttachment{}
	if err := w.Get(ctx, volume, attachment); err != nil {
		return nil, err
	}
	return attachment.Spec.AttachmentTickets, nil
}

// ReplicasOf are the volume's replicas in order of their names.
func (w *World) ReplicasOf(ctx context.Context, volume string) ([]v1beta2.Replica, error) {
	var list v1beta2.ReplicaList
	err := w.List(ctx, &list, client.MatchingLabels{v1beta2.LabelVolume: v1beta2.VolumeLabelValue(volume)})
	return list.Items, err
}

func unless(fine bool, format string, args ...any) string {
	if fine {
		return ""
	}
	return fmt.Sprintf(format, args...)
}

func namesOf(list client.ObjectList) []string {
	var out []string
	_ = meta.EachListItem(list, func(item runtime.Object) error {
		out = append(out, item.(client.Object).GetName())
		return nil
	})
	return out
}

// DeleteVolume deletes the volume, as `kubectl delete` does, and does not wait.
func (w *World) DeleteVolume(ctx context.Context, name string) error {
	volume := &v1beta2.Volume{}
	volume.Name, volume.Namespace = name, w.Namespace
	if err := w.Admin.Delete(ctx, volume); err != nil {
		return fmt.Errorf("deleting volume %s: %w", name, err)
	}
	return nil
}

// EngineNodes are the nodes on which an engine of the volume can do I/O, by the data plane alone. An engine that lost all its
// replicas, such as one on a returned node, can do none: it is an orphan.
func (w *World) EngineNodes(ctx context.Context, volume string) ([]string, error) {
	var list []struct {
		Name    string `json:"name"`
		Engines []struct {
			Node  string            `json:"node"`
			Modes map[string]string `json:"modes"`
		} `json:"engines"`
	}
	err := w.ctl(ctx, http.MethodGet, "/v1/volumes?name="+volume, nil, &list)
	var nodes []string
	for _, v := range list {
		for _, e := range v.Engines {
			if v.Name == volume && slices.ContainsFunc(slices.Collect(maps.Values(e.Modes)),
				func(mode string) bool { return mode != v1beta2.ReplicaModeERR }) {
				nodes = append(nodes, e.Node)
			}
		}
	}
	slices.Sort(nodes)
	return nodes, err
}

// InstancesOf lists the volume's instances that the data plane still has, as a text.
func (w *World) InstancesOf(ctx context.Context, volume string) (string, error) {
	list, err := w.instances(ctx)
	var names []string
	for _, r := range list {
		if strings.HasPrefix(r.Name, volume+"-e-") || strings.HasPrefix(r.Name, volume+"-ef-") || strings.HasPrefix(r.Name, volume+"-r-") {
			names = append(names, r.Name+" ("+r.State+") on "+r.Node)
		}
	}
	return Join(names), err
}

func (w *World) instances(ctx context.Context) ([]Running, error) {
	var list []Running
	return list, w.ctl(ctx, http.MethodGet, "/v1/instances", nil, &list)
}

// Join formats a list for messages.
func Join(list []string) string { return strings.Join(list, ", ") }

// KillInstance lets the process or target of that name fail, as in a crash.
func (w *World) KillInstance(ctx context.Context, node, name string) error {
	return w.ctl(ctx, http.MethodPatch, "/v1/instances/"+node+"/"+name, map[string]any{"state": v1beta2.InstanceStateError}, nil)
}
