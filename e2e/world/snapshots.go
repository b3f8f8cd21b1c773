package world

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// EngineCalls counts the calls of a method that an engine of the volume carried out since the last Sweep.
func (w *World) EngineCalls(ctx context.Context, volume, method string) (int, error) {
	var entries []struct{ Volume, Effect string }
	path := fmt.Sprintf("/v1/journal?source=wire&method=%s&after=%d", url.QueryEscape(method), w.journalMark())
	if err := w.ctl(ctx, http.MethodGet, path, nil, &entries); err != nil {
		return 0, err
	}
	count := 0
	for _, e := range entries {
		if e.Volume == volume && e.Effect != "none" {
			count++
		}
	}
	return count, nil
}

// DeleteSnapshot deletes a Snapshot, as a person does.
func (w *World) DeleteSnapshot(ctx context.Context, name string) error {
	object := &v1beta2.Snapshot{}
	object.Name, object.Namespace = name, w.Namespace
	if err := w.Admin.Delete(ctx, object); err != nil {
		return fmt.Errorf("deleting snapshot %s: %w", name, err)
	}
	return nil
}

// WaitSnapshot waits until the Snapshot's condition has the reason.
func (w *World) WaitSnapshot(ctx context.Context, name, conditionType, reason string, within time.Duration) error {
	return w.Wait(ctx, "snapshot "+name+" to report "+reason, within, func(ctx context.Context) (string, error) {
		s := &v1beta2.Snapshot{}
		if err := w.Get(ctx, name, s); err != nil {
			return "", err
		}
		if is := conditions.Get(s.Status.Conditions, conditionType); is == nil || is.Reason != reason {
			return fmt.Sprintf("its conditions are %+v", s.Status.Conditions), nil
		}
		return "", nil
	})
}

// WaitSnapshotGone waits until the Snapshot does not exist.
func (w *World) WaitSnapshotGone(ctx context.Context, name string, within time.Duration) error {
	return w.Wait(ctx, "the end of snapshot "+name, within, func(ctx context.Context) (string, error) {
		s := &v1beta2.Snapshot{}
		err := w.Get(ctx, name, s)
		if apierrors.IsNotFound(err) {
			return "", nil
		}
		return fmt.Sprintf("its conditions are %+v", s.Status.Conditions), err
	})
}

// SnapshotsOf are the volume's Snapshots by name.
func (w *World) SnapshotsOf(ctx context.Context, volume string) (map[string]v1beta2.Snapshot, error) {
	var list v1beta2.SnapshotList
	if err := w.List(ctx, &list, client.MatchingLabels{v1beta2.LabelVolume: v1beta2.LabelValue(volume)}); err != nil {
		return nil, err
	}
	out := map[string]v1beta2.Snapshot{}
	for _, s := range list.Items {
		out[s.Name] = s
	}
	return out, nil
}
