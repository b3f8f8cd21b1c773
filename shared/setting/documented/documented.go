// Package documented is what operators read about each Setting that Drover obeys: its default, its limits and what it does. The tests of
// each binary hold it against the values that the binary reads.
package documented

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"drover.dev/drover/shared/setting"
)

// Setting is one Setting of Longhorn that Drover obeys.
type Setting struct {
	// Default is in force while the Setting does not exist or is empty; empty: none.
	Default string
	// Low and High are the limits of a number; equal: the Setting is none.
	Low, High int
	// Values are what else it may be, as text.
	Values string
	// Meaning is a sentence without its end.
	Meaning string
}

const (
	boolean = "true, false"
	largest = 1<<31 - 1
)

// Settings are all of them, by name.
func Settings() map[string]Setting {
	out := map[string]Setting{}
	for _, part := range []map[string]Setting{volumes(), pods(), instanceManagers(), managerPods(), engines(), snapshots(), backups(),
		orphans()} {
		maps.Copy(out, part)
	}
	return out
}

func volumes() map[string]Setting {
	return map[string]Setting{
		"auto-salvage": {Default: "true", Values: boolean,
			Meaning: "a volume whose replicas all failed continues from those that failed last"},
		"default-engine-image": {Values: "an image",
			Meaning: "the engine image of v1 volumes that name none, and whose binary reads backup targets; im-monitor brings it to every " +
				"node"},
		"default-replica-count": {Default: "3", Low: 1, High: 20, Meaning: "replicas of a volume that names no number"},
		"replica-soft-anti-affinity": {Default: "false", Values: boolean,
			Meaning: "two replicas of a volume may share a node if nothing better is left"},
		"replica-zone-soft-anti-affinity": {Default: "true", Values: boolean,
			Meaning: "two replicas of a volume may be in the same zone if nothing better is left"},
		"replica-disk-soft-anti-affinity": {Default: "true", Values: boolean,
			Meaning: "two replicas of a volume may share a disk if nothing better is left"},
		"replica-replenishment-wait-interval": {Default: "600", Low: 0, High: largest,
			Meaning: "seconds for which a failed replica is waited for before another takes its place"},
		"concurrent-replica-rebuild-per-node-limit": {Default: "5", Low: 0, High: 1000,
			Meaning: "rebuilds on a node at once; 0 stops rebuilding"},
		"storage-over-provisioning-percentage": {Default: "100", Low: 0, High: setting.MostOverProvisioning,
			Meaning: "how much of a disk is promised to replicas"},
		setting.DefaultDiskLabeledOnly: {Default: "false", Values: boolean,
			Meaning: "nodes get default disks by their label `node.longhorn.io/create-default-disk` only, see [default disks](disks.md#default-disks)"},
		setting.DefaultDataPath: {Default: "/var/lib/longhorn", Values: "an absolute path or a PCI address",
			Meaning: "the default disk of a new node: a directory, or a device for v2"},
		setting.DefaultDiskReserved: {Default: "30", Low: 0, High: 100,
			Meaning: "how much of a default disk replicas leave free, in percent of the disk"},
		"storage-minimal-available-percentage": {Default: "25", Low: 0, High: 100, Meaning: "how much of a disk stays free"},
		"disable-revision-counter": {Default: "false", Values: boolean,
			Meaning: "new v1 volumes do without the revision counter; Longhorn's own default is true"},
		"offline-replica-rebuilding": {Default: "false", Values: boolean,
			Meaning: "detached volumes are attached to rebuild their replicas, where the volume leaves it to the setting"},
		"remove-snapshots-during-filesystem-trim": {Default: "false", Values: boolean,
			Meaning: "trimming the filesystem removes snapshots, where the volume leaves it to the setting"},
		"detach-manually-attached-volumes-when-cordoned": {Default: "false", Values: boolean,
			Meaning: "tickets of people are removed from cordoned nodes"},
		"disable-scheduling-on-cordoned-node": {Default: "true", Values: boolean, Meaning: "cordoned nodes get no new replicas"},
	}
}

func pods() map[string]Setting {
	return map[string]Setting{
		"auto-delete-pod-when-volume-detached-unexpectedly": {Default: "true", Values: boolean,
			Meaning: "pods with a controller are deleted when their volume was detached under them: [pods](pods.md)"},
		"blacklist-for-auto-delete-pod-when-volume-detached-unexpectedly": {Values: "`<group>/<Kind>`, separated by `;`",
			Meaning: "pods of these controllers are not deleted so"},
		"node-down-pod-deletion-policy": {Default: "do-nothing",
			Values:  "do-nothing, delete-statefulset-pod, delete-deployment-pod, delete-both-statefulset-and-deployment-pod",
			Meaning: "whose pods are deleted by force from a node that is down"},
		"node-drain-policy": {Default: "block-if-contains-last-replica", Values: "always-allow, allow-if-replica-is-stopped, " +
			"block-if-contains-last-replica, block-for-eviction-if-contains-last-replica, block-for-eviction",
			Meaning: "what a drain waits for, and whether replicas leave a cordoned node: [draining](draining.md)"},
		"kubernetes-cluster-autoscaler-enabled": {Default: "false", Values: boolean,
			Meaning: "instance managers of any node are treated like those of a cordoned one, and their pods allow it, so that the " +
				"autoscaler may remove the node"},
	}
}

func instanceManagers() map[string]Setting {
	return map[string]Setting{
		"default-instance-manager-image": {Values: "an image",
			Meaning: "the image of instance managers; without it none is made. One that runs nothing takes it at once, a v2 one that runs " +
				"instances by an [upgrade](upgrading.md)"},
		"v1-data-engine": {Default: "true", Values: boolean, Meaning: "each node has an instance manager for v1"},
		"v2-data-engine": {Default: "false", Values: boolean, Meaning: "each node has an instance manager for v2"},
		"taint-toleration": {Values: "`key=value:Effect; key:Effect; :Effect; :`",
			Meaning: "tolerations of instance managers; without a key every taint is tolerated, without an effect every effect"},
		"priority-class":  {Values: "a PriorityClass", Meaning: "that of instance managers"},
		"registry-secret": {Values: "a Secret", Meaning: "with it the instance manager's image is pulled"},
		"system-managed-components-node-selector": {Values: "`label:value; label:value`",
			Meaning: "nodes that get a Longhorn Node and instance managers"},
	}
}

// managerPods are the settings that instance-manager pods are made with. A pod takes a new value once nothing runs on it.
func managerPods() map[string]Setting {
	return map[string]Setting{
		"data-engine-cpu-mask": {Default: "0x3", Values: "`0x3`, or `0-1,4`",
			Meaning: "CPUs of the v2 data engine; an InstanceManager may name its own. Default: the flag `--v2-cpu-mask`"},
		"data-engine-number-of-cpu-cores": {Default: "0", Values: "`0` or more",
			Meaning: "CPUs that the v2 data engine takes of those that the kubelet pins to its pod, instead of the mask; images from 1.12.1 on"},
		"data-engine-memory-size": {Default: "2048", Values: "`0` or more",
			Meaning: "MiB of memory of the v2 data engine; a pod stays while its node offers fewer huge pages. Default: the flag `--v2-memory-mib`"},
		"data-engine-hugepage-enabled": {Default: "true", Values: boolean,
			Meaning: "the v2 data engine uses huge pages of 2 MiB. Default: the flag `--v2-huge-pages`"},
		"data-engine-interrupt-mode-enabled": {Default: "false", Values: boolean,
			Meaning: "the v2 data engine waits for interrupts instead of polling"},
		"data-engine-iobuf-large-pool-size": {Default: "1024", Values: "`1024` or more",
			Meaning: "large I/O buffers of the v2 data engine; images from 1.12.1-rc1 on"},
		"data-engine-iobuf-small-pool-size": {Default: "8192", Values: "`8192` or more",
			Meaning: "small I/O buffers of the v2 data engine; images from 1.12.1 on"},
		"data-engine-cpu-isolation-enabled": {Default: "false", Values: boolean,
			Meaning: "interrupts and other work of the host leave the CPUs of the v2 data engine; an InstanceManager may name its own; images " +
				"from 1.12.1 on"},
		"data-engine-log-level": {Default: "Notice", Values: "Error, Warning, Notice, Info, Debug",
			Meaning: "what the v2 data engine logs; in force at once, without a restart"},
		"data-engine-log-flags": {Values: "names separated by `,`, or `all`",
			Meaning: "parts of the v2 data engine that log; in force at once. A name that it does not know has no effect"},
		"log-level": {Default: "Info", Values: "Panic, Fatal, Error, Warn, Info, Debug, Trace",
			Meaning: "what instance managers log; in force at once. Drover's own: the flag `--log-level`"},
		"log-path": {Default: "/var/lib/longhorn/logs/", Values: "a path of the host beginning with `/`",
			Meaning: "directory of the host for logs of instance managers"},
		"guaranteed-instance-manager-cpu": {Default: "12", Values: "`0` to `40`, with a fraction",
			Meaning: "per cent of a node's CPU that an instance manager requests, unless its Node names a request. Default: the flag " +
				"`--instance-manager-cpu-percent`"},
		"system-managed-pods-image-pull-policy": {Default: "if-not-present", Values: "always, if-not-present, never",
			Meaning: "when the image of a new instance-manager pod is pulled"},
		"instance-manager-pod-liveness-probe-timeout": {Default: "10", Low: 1, High: 60,
			Meaning: "seconds in which an instance manager answers its liveness probe"},
		"engine-image-pod-liveness-probe-period": {Default: "5", Low: 1, High: 60,
			Meaning: "seconds between two liveness probes of a pod that brings an engine image to a node; a change restarts these pods"},
		"engine-image-pod-liveness-probe-timeout": {Default: "4", Low: 1, High: 60,
			Meaning: "seconds in which such a pod answers its liveness probe; a change restarts these pods"},
		"engine-image-pod-liveness-probe-failure-threshold": {Default: "3", Low: 1, High: 60,
			Meaning: "failed probes in a row after which its container restarts; a change restarts these pods"},
		"storage-network": {Values: "`namespace/name` of a network attachment",
			Meaning: "not served: while it names a network, no instance-manager pod is made, and `PodReady` shows `PodRefused`"},
	}
}

func engines() map[string]Setting {
	return map[string]Setting{
		"engine-replica-timeout": {Default: "8", Low: 8, High: 30,
			Meaning: "seconds after which a v1 engine drops a replica that does not answer"},
		"replica-file-sync-http-client-timeout": {Default: "30", Low: 5, High: 120,
			Meaning: "seconds that a v1 rebuild waits for a file's transfer to answer"},
		"replica-rebuild-concurrent-sync-limit": {Default: "1", Low: 1, High: 5, Meaning: "files that a v1 rebuild copies at once"},
		"default-ublk-queue-depth": {Default: "128", Low: 1, High: 4096,
			Meaning: "depth of the queues of v2 volumes with the frontend `ublk`"},
		"default-ublk-number-of-queue": {Default: "1", Low: 1, High: 128,
			Meaning: "number of the queues of v2 volumes with the frontend `ublk`"},
		"default-nvme-tcp-nr-io-queues": {Default: "0", Low: 0, High: 128,
			Meaning: "NVMe connections for I/O of a v2 volume; 0 leaves it to the kernel"},
	}
}

func snapshots() map[string]Setting {
	return map[string]Setting{
		"snapshot-max-count": {Default: "250", Low: 2, High: 250,
			Meaning: "snapshots of a volume that names no number; written into the Volume once, so that a later change is for new volumes"},
		"disable-snapshot-purge": {Default: "false", Values: boolean, Meaning: "data of deleted snapshots stays until it is false again"},
		"snapshot-heavy-task-concurrent-limit": {Default: "5", Low: 0, High: setting.MostPurgesPerNode,
			Meaning: "volumes of a node that merge the data of snapshots at once; 0 is no limit"},
		"auto-cleanup-system-generated-snapshot": {Default: "true", Values: boolean,
			Meaning: "system snapshots that rebuilds leave are removed"},
		"allow-recurring-job-while-volume-detached": {Default: "false", Values: boolean,
			Meaning: "recurring jobs have detached volumes attached for their runs; else a run passes them over"},
	}
}

func backups() map[string]Setting {
	return map[string]Setting{
		"backup-concurrent-limit": {Default: "2", Low: 1, High: setting.MostCopies,
			Meaning: "blocks that an engine copies into a backup target at once, for each backup"},
		"backup-execution-timeout": {Default: "1", Low: 1, High: 1000,
			Meaning: "minutes that a command which reads a backup target may take"},
		"failed-backup-ttl": {Default: "1440", Low: 0, High: 999_999,
			Meaning: "minutes after which a Backup that failed is deleted; 0 is never"},
		"restore-concurrent-limit": {Default: "2", Low: 1, High: setting.MostCopies,
			Meaning: "blocks that a replica copies from a backup at once, for each restore"},
	}
}

func orphans() map[string]Setting {
	return map[string]Setting{
		"orphan-resource-auto-deletion": {Values: "`instance`, `replica-data`, or both separated by `;`",
			Meaning: "which orphans are deleted without a person; empty is none: [orphans](orphans.md#auto-deletion)"},
		"orphan-resource-auto-deletion-grace-period": {Default: "300", Low: 0, High: 3_153_600_000,
			Meaning: "seconds that an orphan stays before it is deleted without a person"},
		"orphan-auto-deletion": {Values: boolean,
			Meaning: "of older clusters: true becomes the item `replica-data` of `orphan-resource-auto-deletion`, then the Setting is deleted"},
	}
}

const head = `<!-- Generated by shared/setting/docgen (make generate): change shared/setting/documented instead. -->

# Settings: what Drover obeys

Settings are Longhorn's: one object each. Of Longhorn's own, Drover obeys those below and no other.
` + "```console\n$ kubectl -n longhorn-system get lhs default-replica-count\n" + `NAME                    VALUE   APPLIED   WHY       AGE
default-replica-count   2       true      InForce   3s
$ kubectl -n longhorn-system patch lhs default-replica-count --type merge -p '{"value":"3"}'
setting.longhorn.io/default-replica-count patched
` + "```" + `
One that does not exist is created with ` + "`apiVersion: longhorn.io/v1beta2`, `kind: Setting`, its name, and `value`" + `
as a string. A number may be one for both data engines, or ` + "`" + `{"v1":"3","v2":"2"}` + "`" + `: what is not named there has its default.

`

const tail = `
## What WHY shows
| WHY | meaning | what to do |
|---|---|---|
| ` + "`InForce`" + ` | the value is obeyed | nothing |
| ` + "`InvalidValue`" + ` | it cannot be read. The last good value of the running process stays in force, after a restart the default; of auto deletion of orphans: off, of ` + "`disable-snapshot-purge`" + `: true, of ` + "`auto-cleanup-system-generated-snapshot`" + `: false | correct it; the message (` + "`-o wide`" + `) shows what is accepted. Alert: [DroverSettingInvalid](alerts/DroverSettingInvalid.md) |
| ` + "`NotObeyed`" + ` | no controller of Drover reads it: it is Longhorn's alone, or its name is mistyped. Its value changes nothing | nothing |
| empty | no controller has seen this value yet | see ` + "`kubectl drover status`" + `: does its controller lead? |

A bad value that the API server recognizes is refused at once, with a sentence. What it lets through, or what was written before the
definitions were installed, is ` + "`InvalidValue`" + `. One controller writes the status of a Setting: the first that is named above.
`

// Page is docs/settings.md.
func Page() (string, error) {
	var page strings.Builder
	page.WriteString(head)
	page.WriteString("| setting | default | values | what it does | obeyed by |\n|---|---|---|---|---|\n")
	all := Settings()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		by := setting.Obeying(name)
		if len(by) == 0 {
			return "", fmt.Errorf("no binary obeys %s", name)
		}
		s := all[name]
		fmt.Fprintf(&page, "| `%s` | %s | %s | %s | `%s` |\n", name, s.defaultText(), s.valuesText(), s.Meaning, strings.Join(by, "`, `"))
	}
	page.WriteString(tail)
	return page.String(), nil
}

func (s Setting) defaultText() string {
	if s.Default == "" {
		return "–"
	}
	return s.Default
}

func (s Setting) valuesText() string {
	switch {
	case s.Values != "":
		return s.Values
	case s.High >= largest:
		return fmt.Sprintf("from %d", s.Low)
	default:
		return fmt.Sprintf("%d to %d", s.Low, s.High)
	}
}

// Choices are the values of a setting that is one of a list; none where it is anything else.
func (s Setting) Choices() []string {
	if !strings.Contains(s.Values, ", ") || strings.Contains(s.Values, "`") {
		return nil
	}
	return strings.Split(s.Values, ", ")
}

// Accepted are values that the documentation allows: the default, and the limits of a number.
func (s Setting) Accepted() []string {
	out := []string{s.Default}
	if s.High > 0 {
		return append(out, strconv.Itoa(s.Low), strconv.Itoa(s.High))
	}
	if s.Values == boolean {
		return append(out, "true", "false")
	}
	return out
}

// Refused are values that the documentation does not allow: next to the limits of a number, and no number or boolean at all.
func (s Setting) Refused() []string {
	switch {
	case s.High > 0:
		return []string{strconv.Itoa(s.Low - 1), strconv.Itoa(s.High + 1), "many"}
	case s.Values == boolean:
		return []string{"yes"}
	default:
		return nil
	}
}
