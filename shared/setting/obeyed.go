package setting

import (
	"maps"
	"slices"
)

// Names of the binaries that read Settings.
const (
	AttachController   = "attach-controller"
	DiskController     = "disk-controller"
	ImMonitor          = "im-monitor"
	OrphanController   = "orphan-controller"
	SnapshotController = "snapshot-controller"
	UpgradeController  = "upgrade-controller"
)

// The highest values of settings that more than one package knows, in the setting's own unit.
const (
	// MostOverProvisioning is a percentage.
	MostOverProvisioning = 100_000
	// MostPurgesPerNode is a number of volumes.
	MostPurgesPerNode = 100_000
	// MostCopies is a number of blocks that are copied at once.
	MostCopies = 1000
)

// obeyed are the Settings that a controller of Drover obeys, by name: with the binaries that do. The first of them writes the Setting's
// status, and stays the first: binaries of several versions have this table. A test compares it with those that were released.
var obeyed = map[string][]string{
	"allow-recurring-job-while-volume-detached":         {SnapshotController},
	"auto-cleanup-system-generated-snapshot":            {ImMonitor},
	"auto-delete-pod-when-volume-detached-unexpectedly": {AttachController},
	"auto-salvage":             {AttachController},
	"backup-concurrent-limit":  {ImMonitor},
	"backup-execution-timeout": {SnapshotController},
	"failed-backup-ttl":        {SnapshotController},
	"blacklist-for-auto-delete-pod-when-volume-detached-unexpectedly": {AttachController},
	"concurrent-replica-rebuild-per-node-limit":                       {AttachController},
	DefaultDiskLabeledOnly:                                            {ImMonitor, DiskController},
	"data-engine-cpu-isolation-enabled":                               {ImMonitor},
	"data-engine-cpu-mask":                                            {ImMonitor},
	"data-engine-hugepage-enabled":                                    {ImMonitor},
	"data-engine-interrupt-mode-enabled":                              {ImMonitor},
	"data-engine-iobuf-large-pool-size":                               {ImMonitor},
	"data-engine-iobuf-small-pool-size":                               {ImMonitor},
	"data-engine-log-flags":                                           {ImMonitor},
	"data-engine-log-level":                                           {ImMonitor},
	"data-engine-memory-size":                                         {ImMonitor},
	"data-engine-number-of-cpu-cores":                                 {ImMonitor},
	DefaultDataPath:                                                   {ImMonitor, DiskController},
	"default-engine-image":                                            {AttachController, ImMonitor, SnapshotController},
	"default-instance-manager-image":                                  {ImMonitor, UpgradeController},
	"default-nvme-tcp-nr-io-queues":                                   {ImMonitor},
	"default-replica-count":                                           {AttachController},
	"default-ublk-number-of-queue":                                    {ImMonitor},
	"default-ublk-queue-depth":                                        {ImMonitor},
	"detach-manually-attached-volumes-when-cordoned":                  {AttachController},
	"disable-revision-counter":                                        {AttachController},
	"disable-scheduling-on-cordoned-node":                             {AttachController, ImMonitor},
	"disable-snapshot-purge":                                          {SnapshotController, ImMonitor},
	"engine-image-pod-liveness-probe-failure-threshold":               {ImMonitor},
	"engine-image-pod-liveness-probe-period":                          {ImMonitor},
	"engine-image-pod-liveness-probe-timeout":                         {ImMonitor},
	"engine-replica-timeout":                                          {ImMonitor},
	"guaranteed-instance-manager-cpu":                                 {ImMonitor},
	"instance-manager-pod-liveness-probe-timeout":                     {ImMonitor},
	"kubernetes-cluster-autoscaler-enabled":                           {ImMonitor},
	"log-level":                                                       {ImMonitor},
	"log-path":                                                        {ImMonitor},
	"node-down-pod-deletion-policy":                                   {AttachController},
	"node-drain-policy":                                               {ImMonitor, AttachController},
	"offline-replica-rebuilding":                                      {AttachController},
	"orphan-auto-deletion":                                            {OrphanController},
	"orphan-resource-auto-deletion":                                   {OrphanController},
	"orphan-resource-auto-deletion-grace-period":                      {OrphanController},
	"priority-class":                                                  {ImMonitor},
	"registry-secret":                                                 {ImMonitor, UpgradeController},
	"remove-snapshots-during-filesystem-trim":                         {AttachController},
	"replica-disk-soft-anti-affinity":                                 {AttachController},
	"replica-file-sync-http-client-timeout":                           {ImMonitor},
	"replica-rebuild-concurrent-sync-limit":                           {ImMonitor},
	"replica-replenishment-wait-interval":                             {AttachController},
	"replica-soft-anti-affinity":                                      {AttachController},
	"replica-zone-soft-anti-affinity":                                 {AttachController},
	"restore-concurrent-limit":                                        {ImMonitor},
	"snapshot-heavy-task-concurrent-limit":                            {SnapshotController, ImMonitor},
	"snapshot-max-count":                                              {SnapshotController, AttachController},
	"storage-minimal-available-percentage":                            {AttachController, ImMonitor, DiskController},
	"storage-network":                                                 {ImMonitor},
	DefaultDiskReserved:                                               {ImMonitor, DiskController},
	"storage-over-provisioning-percentage":                            {AttachController, ImMonitor, DiskController},
	"system-managed-components-node-selector":                         {ImMonitor},
	"system-managed-pods-image-pull-policy":                           {ImMonitor},
	"taint-toleration":                                                {ImMonitor},
	"v1-data-engine":                                                  {ImMonitor},
	"v2-data-engine":                                                  {ImMonitor, DiskController},
}

// Obeying are the binaries that obey the Setting of that name; none for one that Drover does not obey, whether Longhorn knows it or not.
func Obeying(name string) []string { return slices.Clone(obeyed[name]) }

// ObeyedBy are the names of the Settings that the binary obeys, in order.
func ObeyedBy(binary string) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(obeyed)) {
		if slices.Contains(obeyed[name], binary) {
			names = append(names, name)
		}
	}
	return names
}

// Writer is the binary that alone writes the status of the Setting of that name: the first that obeys it, attach-controller where none
// does.
func Writer(name string) string {
	if binaries := obeyed[name]; len(binaries) > 0 {
		return binaries[0]
	}
	return AttachController
}
