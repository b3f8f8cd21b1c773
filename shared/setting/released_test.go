package setting_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/setting"
)

// released are the writers of 0.1: names are added with each version, and none gets another writer.
var released = map[string]string{
	"allow-recurring-job-while-volume-detached":         setting.SnapshotController,
	"auto-cleanup-system-generated-snapshot":            setting.ImMonitor,
	"auto-delete-pod-when-volume-detached-unexpectedly": setting.AttachController,
	"auto-salvage":            setting.AttachController,
	"backup-concurrent-limit": setting.ImMonitor,
	"blacklist-for-auto-delete-pod-when-volume-detached-unexpectedly": setting.AttachController,
	"concurrent-replica-rebuild-per-node-limit":                       setting.AttachController,
	"create-default-disk-labeled-nodes":                               setting.ImMonitor,
	"data-engine-cpu-isolation-enabled":                               setting.ImMonitor,
	"data-engine-cpu-mask":                                            setting.ImMonitor,
	"data-engine-hugepage-enabled":                                    setting.ImMonitor,
	"data-engine-interrupt-mode-enabled":                              setting.ImMonitor,
	"data-engine-iobuf-large-pool-size":                               setting.ImMonitor,
	"data-engine-iobuf-small-pool-size":                               setting.ImMonitor,
	"data-engine-log-flags":                                           setting.ImMonitor,
	"data-engine-log-level":                                           setting.ImMonitor,
	"data-engine-memory-size":                                         setting.ImMonitor,
	"data-engine-number-of-cpu-cores":                                 setting.ImMonitor,
	"default-data-path":                                               setting.ImMonitor,
	"default-engine-image":                                            setting.AttachController,
	"default-instance-manager-image":                                  setting.ImMonitor,
	"default-nvme-tcp-nr-io-queues":                                   setting.ImMonitor,
	"default-replica-count":                                           setting.AttachController,
	"default-ublk-number-of-queue":                                    setting.ImMonitor,
	"default-ublk-queue-depth":                                        setting.ImMonitor,
	"detach-manually-attached-volumes-when-cordoned":                  setting.AttachController,
	"disable-revision-counter":                                        setting.AttachController,
	"disable-scheduling-on-cordoned-node":                             setting.AttachController,
	"disable-snapshot-purge":                                          setting.SnapshotController,
	"engine-replica-timeout":                                          setting.ImMonitor,
	"guaranteed-instance-manager-cpu":                                 setting.ImMonitor,
	"instance-manager-pod-liveness-probe-timeout":                     setting.ImMonitor,
	"kubernetes-cluster-autoscaler-enabled":                           setting.ImMonitor,
	"log-level":                                                       setting.ImMonitor,
	"log-path":                                                        setting.ImMonitor,
	"node-down-pod-deletion-policy":                                   setting.AttachController,
	"node-drain-policy":                                               setting.ImMonitor,
	"offline-replica-rebuilding":                                      setting.AttachController,
	"orphan-auto-deletion":                                            setting.OrphanController,
	"orphan-resource-auto-deletion":                                   setting.OrphanController,
	"orphan-resource-auto-deletion-grace-period":                      setting.OrphanController,
	"priority-class":                                                  setting.ImMonitor,
	"registry-secret":                                                 setting.ImMonitor,
	"remove-snapshots-during-filesystem-trim":                         setting.AttachController,
	"replica-disk-soft-anti-affinity":                                 setting.AttachController,
	"replica-file-sync-http-client-timeout":                           setting.ImMonitor,
	"replica-rebuild-concurrent-sync-limit":                           setting.ImMonitor,
	"replica-replenishment-wait-interval":                             setting.AttachController,
	"replica-soft-anti-affinity":                                      setting.AttachController,
	"replica-zone-soft-anti-affinity":                                 setting.AttachController,
	"restore-concurrent-limit":                                        setting.ImMonitor,
	"snapshot-heavy-task-concurrent-limit":                            setting.SnapshotController,
	"snapshot-max-count":                                              setting.SnapshotController,
	"storage-minimal-available-percentage":                            setting.AttachController,
	"storage-network":                                                 setting.ImMonitor,
	"storage-reserved-percentage-for-default-disk":                    setting.ImMonitor,
	"storage-over-provisioning-percentage":                            setting.AttachController,
	"system-managed-components-node-selector":                         setting.ImMonitor,
	"system-managed-pods-image-pull-policy":                           setting.ImMonitor,
	"taint-toleration":                                                setting.ImMonitor,
	"v1-data-engine":                                                  setting.ImMonitor,
	"v2-data-engine":                                                  setting.ImMonitor,
}

func TestASettingKeepsTheWriterThatItHadInAReleasedVersion(t *testing.T) {
	for name, writer := range released {
		require.Equal(t, writer, setting.Writer(name), name)
	}
}

// attach-controller of this version does not know what a newer im-monitor obeys.
func TestWhatANewerVersionObeysIsLeftToIt(t *testing.T) {
	obj := &v1beta2.Setting{ObjectMeta: metav1.ObjectMeta{Name: "backing-image-cleanup-wait-interval", Generation: 3},
		Status: v1beta2.SettingStatus{Applied: true, ObservedGeneration: 3,
			Conditions: []v1beta2.Condition{{Type: v1beta2.SettingApplied, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonInForce,
				ObservedGeneration: 3}}}}
	_, changed := setting.Status(obj, nil, time.Now())
	require.False(t, changed)
	obj.Generation++
	wanted, changed := setting.Status(obj, nil, time.Now())
	require.True(t, changed, "no binary has written about this value: the newer one may be gone")
	require.Equal(t, v1beta2.ReasonNotObeyed, wanted.Conditions[0].Reason)
}
