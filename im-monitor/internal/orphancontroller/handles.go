package orphancontroller

import (
	"context"
	"fmt"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/utils/clock"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/kube"
)

// handles answers whether a PersistentVolume has a volume handle. It is asked only for volumes that have no Volume
// object any more; one uncached list serves all who ask within a second, so that many deletions at once cost few lists.
type handles struct {
	reader client.Reader
	clock  clock.PassiveClock

	mu   sync.Mutex
	at   time.Time
	seen map[string]struct{}
}

const handlesFresh = time.Second

func (h *handles) has(ctx context.Context, volume string) (bool, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if began := h.clock.Now(); h.seen == nil || began.Sub(h.at) > handlesFresh {
		var list corev1.PersistentVolumeList
		if err := h.reader.List(ctx, &list); err != nil {
			return false, fmt.Errorf("listing PersistentVolumes: %w", err)
		}
		h.seen, h.at = map[string]struct{}{}, began
		for i := range list.Items {
			if handle := kube.VolumeHandleOf(&list.Items[i]); handle != "" {
				h.seen[handle] = struct{}{}
			}
		}
	}
	_, ok := h.seen[volume]
	return ok, nil
}
