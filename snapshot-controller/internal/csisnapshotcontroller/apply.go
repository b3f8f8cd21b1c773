package csisnapshotcontroller

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/volumesnapshot"
	"drover.dev/drover/snapshot-controller/internal/csisnapshot"
)

// apply does the one write of a verdict, bound to the version that was evaluated.
func (r *reconciler) apply(ctx context.Context, s *seen, v csisnapshot.Verdict) error {
	switch v.Step {
	case csisnapshot.StepMark:
		return r.annotate(ctx, s.content, "yes")
	case csisnapshot.StepUnmark:
		return r.annotate(ctx, s.content, nil)
	case csisnapshot.StepCreateSnapshot:
		return r.rt.Client.Create(ctx, newSnapshot(s.world))
	case csisnapshot.StepCreateBackup:
		return r.rt.Client.Create(ctx, newBackup(s.world))
	case csisnapshot.StepStatus:
		fields := statusFields(s, v.Status, metav1.NewTime(s.world.Now))
		return status.MergeStatus(ctx, r.rt.Client, s.content, fields, status.AtVersion())
	case csisnapshot.StepDeleteSnapshot:
		return status.Delete(ctx, r.rt.Client, s.world.Snapshot)
	case csisnapshot.StepDeleteBackup:
		return status.Delete(ctx, r.rt.Client, s.world.Backup)
	case csisnapshot.StepRelease:
		return client.IgnoreNotFound(status.DropFinalizer(ctx, r.rt.Client, s.content, csisnapshot.Finalizer))
	}
	return fmt.Errorf("unknown step %q", v.Step)
}

// annotate puts the mark on the content, or takes it off with nil.
func (r *reconciler) annotate(ctx context.Context, c *volumesnapshot.Content, value any) error {
	fields := map[string]any{"annotations": map[string]any{csisnapshot.BeingCreated: value}}
	if err := status.MergeMetadata(ctx, r.rt.Client, c, fields); err != nil {
		return fmt.Errorf("marking: %w", err)
	}
	return nil
}

// newSnapshot asks for the snapshot as a person would, with all that snapshot-controller adds to it anyhow.
func newSnapshot(w csisnapshot.World) *v1beta2.Snapshot {
	_, name, _ := w.Content.Names()
	s := v1beta2.NewSnapshot(w.Volume, name)
	s.Spec.CreateSnapshot = true
	return s
}

func newBackup(w csisnapshot.World) *v1beta2.Backup {
	volume, of, name := w.Content.Names()
	return &v1beta2.Backup{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.Volume.Namespace, Name: name, Finalizers: []string{v1beta2.Finalizer},
			Labels: map[string]string{v1beta2.LabelBackupVolume: v1beta2.LabelValue(volume)},
		},
		Spec: v1beta2.BackupSpec{SnapshotName: of, BackupMode: w.Class.BackupMode},
	}
}

// statusFields is the merge patch to the wanted status. What is empty is not there; an error whose text stays keeps its time.
func statusFields(s *seen, wanted csisnapshot.Status, now metav1.Time) map[string]any {
	fields := map[string]any{"snapshotHandle": nil, "readyToUse": nil, "creationTime": nil, "restoreSize": nil}
	if wanted != (csisnapshot.Status{}) {
		fields["readyToUse"] = wanted.Ready
	}
	if wanted.Handle != "" {
		fields["snapshotHandle"] = wanted.Handle
	}
	if wanted.CreationTime != 0 {
		fields["creationTime"] = wanted.CreationTime
	}
	if wanted.RestoreSize != 0 {
		fields["restoreSize"] = wanted.RestoreSize
	}
	switch wanted.Error {
	case s.world.Content.Status.Error:
	case "":
		fields["error"] = nil
	default:
		fields["error"] = volumesnapshot.ContentError{Time: &now, Message: wanted.Error}
	}
	return fields
}
