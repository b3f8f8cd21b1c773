package enginecontroller

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"drover.dev/drover/im-monitor/internal/backupexecutor"
	"drover.dev/drover/shared/api/v1beta2"
)

// ofBackup are the active engines that run of the volume whose label the Backup has.
func (c *Controller) ofBackup(ctx context.Context, obj client.Object) []reconcile.Request {
	label := obj.GetLabels()[v1beta2.LabelBackupVolume]
	if label == "" {
		return nil
	}
	var engines v1beta2.EngineList
	err := c.rt.Client.List(ctx, &engines, client.InNamespace(c.rt.Namespace), client.MatchingFields{enginesByLabel: label},
		client.UnsafeDisableDeepCopy)
	if err != nil {
		c.rt.Log.Error(err, "listing engines from the cache")
	}
	var out []reconcile.Request
	for i := range engines.Items {
		if e := &engines.Items[i]; e.Spec.Active && runs(e) {
			out = append(out, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(e)})
		}
	}
	return out
}

// copies does what a poll means for the volume's backups, and reports when to poll again on their account; zero is whenever.
func (c *Controller) copies(ctx context.Context, poll backupexecutor.Poll) (time.Duration, error) {
	defer c.working.begin(poll.Engine.Name)()
	return c.backups.Pass(ctx, poll)
}

// runOf is a word for a run of an engine that no other run of it has, as long as its server gives instances UUIDs.
func runOf(e *v1beta2.Engine) string {
	sum := sha256.Sum256([]byte(fmt.Sprint(e.Name, where(e))))
	return hex.EncodeToString(sum[:])[:16]
}
