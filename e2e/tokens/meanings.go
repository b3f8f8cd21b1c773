package main

// strong is a binary's row in the table of strength, and its summary.
type strong struct{ root, data, volumes, secrets, summary string }

var strengths = map[string]strong{
	"im-monitor": {
		root: "**yes**: it creates privileged pods", data: "**yes**", volumes: "**yes**", secrets: "**yes**: those of the namespace",
		summary: "It starts the instance managers, which are privileged pods with the host's file system. No policy can distinguish such " +
			"a pod from a thief's: protect this token as you protect root on the nodes.",
	},
	"attach-controller": {
		root: "no", data: "**yes**: it approves the removal of replicas", volumes: "**yes**", secrets: "no",
		summary: "It decides where volumes are attached and which replicas they have. A thief can delete every volume, and the answer is " +
			"a backup; and he ends pods with volumes in all namespaces.",
	},
	"snapshot-controller": {
		root: "no", data: "snapshots and backups only, in backup targets too", volumes: "**yes**: by tickets of a higher priority",
		secrets: "**yes**: those of the namespace",
		summary: "It decides when snapshots and backups are created and removed. A thief can remove all of them; the volumes themselves " +
			"stay.",
	},
	"upgrade-controller": {
		root: "**yes**, unless the images are bounded: it names the image of an instance manager", data: "snapshots only",
		volumes: "for as long as it cordons their nodes", secrets: "no",
		summary: "It asks im-monitor to replace an instance manager by one of another image, and that is a privileged pod. The ConfigMap " +
			"`drover-instance-manager-images` prevents that, see [installing](install.md#hardening). What else it " +
			"writes, a policy limits to single fields, and its pods to those that [try an image]" +
			"(decisions/0063-upgrade-controller-tries-images-itself.md).",
	},
	"orphan-controller": {
		root: "no", data: "of orphans: also what is held as a last copy, or because its objects may be missing", volumes: "no",
		secrets: "no",
		summary: "It approves that orphaned instances are ended. im-monitor evaluates each of them again on what the API server has at " +
			"that moment, so that a thief ends only what is an orphan; but what no policy would take (`LastCopy`, `NotAbandoned`, " +
			"`Flood`) he can delete as a person would, with its data.",
	},
	"disk-controller": {
		root: "no", data: "no", volumes: "no", secrets: "no",
		summary: "It reports on the v1 disks of one node. The API server knows the node from the token: a thief changes the disks of that " +
			"node only, and can keep new replicas off them. Who takes over the pod itself writes as root below the directories of its disks.",
	},
	"api-gateway": {
		root: "**yes**, unless the images are bounded: it writes Settings", data: "**yes**: it deletes volumes", volumes: "**yes**: by tickets",
		secrets: "no",
		summary: "It answers Longhorn's REST API, and may do what a client of it may: create, attach and delete volumes, change nodes and " +
			"settings. " +
			"Without `--require-tokens`, whoever reaches its port needs no token for that: see [who may ask](../api-gateway/README.md#who-may-ask).",
	},
}

const afterStrength = `"No" means: not with this token and what the controllers make of what it wrote. Tokens add up: two of them reach what either of them reaches.

What every signed-in account may do, such as reading the API server's version, is left out below.
`

// meaningKey finds a sentence: by the kind, the name of the object where the Role has one, and the binary where others mean something else
// by it.
type meaningKey struct{ kind, name, binary string }

// meanings describe what a thief does with the rights to write one kind. They continue the text "so a thief".
var meanings = map[meaningKey]string{
	{kind: "events.events.k8s.io"}:                              "invents events, and changes existing ones",
	{kind: "events.events.k8s.io", binary: "attach-controller"}: "invents events in all namespaces, and changes existing ones in its own",
	{kind: "settings.longhorn.io/status"}:                       "reports whether a setting is in force; no controller acts on that",

	// Leases: each names the one of its binary.
	{kind: "leases.coordination.k8s.io", name: "drover-im-monitor"}:          "keeps every im-monitor from leading",
	{kind: "leases.coordination.k8s.io", name: "drover-attach-controller"}:   "keeps every attach-controller from leading",
	{kind: "leases.coordination.k8s.io", name: "drover-snapshot-controller"}: "keeps every snapshot-controller from leading",
	{kind: "leases.coordination.k8s.io", name: "drover-upgrade-controller"}:  "keeps every upgrade-controller from leading",
	{kind: "leases.coordination.k8s.io", name: "drover-orphan-controller"}:   "keeps every orphan-controller from leading",
	{kind: "leases.coordination.k8s.io", name: "external-attacher-leader-driver-longhorn-io"}: "keeps every CSI attacher of " +
		"Longhorn's driver from leading",
	{kind: "leases.coordination.k8s.io", name: "external-snapshotter-leader-driver-longhorn-io"}: "keeps every CSI snapshotter of " +
		"Longhorn's driver from leading",

	{kind: "leases.coordination.k8s.io", binary: "disk-controller"}: "keeps disk-controller of the token's node from leading; any other " +
		"lease is refused (`drover-disk-controller-leases`)",
	{kind: "nodes.longhorn.io/status", binary: "disk-controller"}: "reports what is on the v1 disks of the token's node; any other Node, " +
		"field and disk is refused (`drover-disk-controller`)",
	{kind: "replicas.longhorn.io/status", binary: "disk-controller"}: "reports that the directory of a deleted v1 replica of the " +
		"token's node is gone, so that it stays; any other Replica and condition is refused (`drover-disk-controller-replicas`)",
	{kind: "nodes.longhorn.io", binary: "disk-controller"}: "gives the token's node disks and tags if it has none, and lets no device be " +
		"formatted; anything else is refused (`drover-disk-controller`)",

	// im-monitor.
	{kind: "pods", binary: "im-monitor"}: "**runs any container on any node, as root of that node**, with every Secret of the namespace " +
		"mounted that it can name; ends any pod of the namespace, also instance managers with the volumes that they serve",
	{kind: "instancemanagers.longhorn.io", binary: "im-monitor"}: "ends instance managers, and with them the volumes that they serve",
	{kind: "nodes.longhorn.io", binary: "im-monitor"}: "takes nodes and disks out of service, and lets im-monitor format a " +
		"device that has no recorded disk",
	{kind: "daemonsets.apps"}: "**runs any container on every node, as root**, and takes away the binaries of v1 engines, which then " +
		"cannot start",
	{kind: "engineimages.longhorn.io", binary: "im-monitor"}:   "deletes engine images, so that im-monitor takes their binaries away",
	{kind: "engineimages.longhorn.io/status"}:                  "reports that no node has a binary: v1 volumes do not start",
	{kind: "backingimages.longhorn.io"}:                        "changes the location of a backing image: volumes made from it do not start",
	{kind: "orphans.longhorn.io", binary: "im-monitor"}:        "invents orphans, which orphan-controller may approve",
	{kind: "snapshots.longhorn.io", binary: "im-monitor"}:      "lets snapshots be taken of every volume, until their limit",
	{kind: "backups.longhorn.io/status", binary: "im-monitor"}: "reports that backups are complete which are not",
	{kind: "backuptargets.longhorn.io/status"}:                 "reports that a backup target can be reached, or cannot",
	{kind: "enginefrontends.longhorn.io/status"}:               "reports where volumes are served; attach-controller believes it",
	{kind: "engines.longhorn.io/status"}: "reports which replicas are good; **attach-controller believes it, and " +
		"removes those that are reported bad**",
	{kind: "instancemanagers.longhorn.io/status"}:                "reports which instances run where",
	{kind: "nodes.longhorn.io/status", binary: "im-monitor"}:     "reports that nodes are down, so that volumes move",
	{kind: "orphans.longhorn.io/status", binary: "im-monitor"}:   "reports that instances are orphaned, or gone",
	{kind: "replicas.longhorn.io/status", binary: "im-monitor"}:  "reports that data was removed which is there, so that it is left behind",
	{kind: "snapshots.longhorn.io/status", binary: "im-monitor"}: "reports that snapshots were taken which were not",

	{kind: "poddisruptionbudgets.policy"}: "lets a drain take instance managers with the volumes that they serve, or take none at all; " +
		"also budgets of other programs in the namespace",

	// attach-controller.
	{kind: "persistentvolumes", binary: "attach-controller"}: "puts and drops the attacher's finalizer on PersistentVolumes of " +
		"Longhorn's driver, and reads all; anything else is refused (`drover-attach-controller`)",
	{kind: "volumeattachments.storage.k8s.io"}: "deletes VolumeAttachments of Longhorn's driver, and drops their finalizer, so that " +
		"Kubernetes attaches a volume elsewhere under its pod; " +
		"anything else is refused (`drover-attach-controller`, `drover-attach-controller-deletions`)",
	{kind: "pods", binary: "attach-controller"}: "ends any pod of any namespace that uses a claim and has a controller, which makes " +
		"another one, also by force while it runs; any other pod's " +
		"deletion is refused (`drover-attach-controller-deletions`); reads all pods, with their environment",
	{kind: "volumeattachments.storage.k8s.io/status"}: "reports to Kubernetes that volumes of Longhorn's driver are " +
		"attached, or are not: pods fail, or a volume is attached elsewhere; other drivers' are refused (`drover-attach-controller`)",
	{kind: "snapshots.longhorn.io", binary: "attach-controller"}:         "**deletes snapshots**, and takes some",
	{kind: "enginefrontends.longhorn.io"}:                                "stops the block devices of running volumes",
	{kind: "engines.longhorn.io"}:                                        "stops running volumes, takes out replicas, reverts to a snapshot",
	{kind: "replicas.longhorn.io"}:                                       "**deletes replicas**, and marks good ones as failed",
	{kind: "replicas.longhorn.io/status", binary: "attach-controller"}:   "**approves that a deleted replica's data is destroyed**",
	{kind: "volumeattachments.longhorn.io", binary: "attach-controller"}: "attaches and detaches every volume",
	{kind: "volumeattachments.longhorn.io/status"}:                       "reports to waiting pods that their volume is attached",
	{kind: "volumes.longhorn.io", binary: "attach-controller"}: "attaches a volume elsewhere, under its user, and drops the " +
		"finalizer of one that is being deleted",
	{kind: "volumes.longhorn.io/status", binary: "attach-controller"}: "reports that volumes are healthy, or faulted",
	{kind: "nodes.longhorn.io/status", binary: "attach-controller"}: "records instances as abandoned, so that orphan-controller may " +
		"delete those without an object; reports that nodes are ready, or what is on disks",

	// snapshot-controller.
	{kind: "secrets", name: "snapshot-controller-webhook"}: "reads and replaces the key of the webhook, and answers in its place where " +
		"he can also take over its address",
	{kind: "mutatingwebhookconfigurations.admissionregistration.k8s.io",
		name: "drover-snapshot-controller"}: "changes which certificate the API server trusts when it asks about Snapshots; anything " +
		"else is refused (`drover-snapshot-controller`)",
	{kind: "validatingwebhookconfigurations.admissionregistration.k8s.io",
		name: "drover-snapshot-controller"}: "changes which certificate the API server trusts when it asks about Snapshots; anything " +
		"else is refused (`drover-snapshot-controller`)",
	{kind: "volumesnapshotcontents.snapshot.storage.k8s.io"}: "marks VolumeSnapshotContents of Longhorn's driver as being " +
		"taken, and lets those go that are being deleted, before their data is; any other change, and every change of another driver's, is " +
		"refused (`drover-snapshot-controller-contents`)",
	{kind: "volumesnapshotcontents.snapshot.storage.k8s.io/status"}: "reports to Kubernetes that snapshots of Longhorn's driver are " +
		"ready, or are others than they are; other drivers' are refused (`drover-snapshot-controller-contents`)",
	{kind: "backups.longhorn.io", binary: "snapshot-controller"}: "**deletes backups, with their data in the target**, and takes some",
	{kind: "backupvolumes.longhorn.io", binary: "snapshot-controller"}: "**has all backups of a volume removed from their " +
		"target**, and invents volumes in it",
	{kind: "backupvolumes.longhorn.io/status", binary: "snapshot-controller"}: "reports that a target has volumes which it has not",
	{kind: "snapshots.longhorn.io", binary: "snapshot-controller"}:            "**deletes snapshots**, and takes some",
	{kind: "backups.longhorn.io/status", binary: "snapshot-controller"}:       "approves backups, and reports that they are complete",
	{kind: "snapshots.longhorn.io/status", binary: "snapshot-controller"}:     "approves that a deleted snapshot's data is merged",
	{kind: "recurringjobs.longhorn.io/status"}:                                "lets a recurring job believe that it has run",
	{kind: "volumes.longhorn.io/status", binary: "snapshot-controller"}: "reports which backup is a volume's last; any other change is " +
		"refused (`drover-snapshot-controller-fields`)",
	{kind: "volumeattachments.longhorn.io", binary: "snapshot-controller"}: "attaches and detaches every volume by tickets",

	// upgrade-controller.
	{kind: "pods", binary: "upgrade-controller"}: "runs code of his choice, as the command `true` of any image, on any node, without " +
		"token, volume, root or anything of the host; any other pod, and the deletion of any other, is refused " +
		"(`drover-upgrade-controller-pods`)",
	{kind: "dataengineupgrademanagers.longhorn.io"}:        "changes the spec of an upgrade, or removes one that has not ended",
	{kind: "dataengineupgrademanagers.longhorn.io/status"}: "lets an upgrade seem to have ended",
	{kind: "dataengineupgrademanagers.longhorn.io/status", binary: "attach-controller"}: "answers for itself " +
		"which requests of an upgrade were refused; any other change is refused (`upgrade-rehearsals.longhorn.io`)",
	{kind: "dataengineupgrademanagers.longhorn.io/status", binary: "im-monitor"}: "answers for itself " +
		"which requests of an upgrade were refused; any other change is refused (`upgrade-rehearsals.longhorn.io`)",
	{kind: "dataengineupgrademanagers.longhorn.io/status", binary: "snapshot-controller"}: "answers for itself " +
		"which requests of an upgrade were refused; any other change is refused (`upgrade-rehearsals.longhorn.io`)",
	{kind: "nodedataengineupgrades.longhorn.io",
		binary: "upgrade-controller"}: "**lets im-monitor run an image of his choice as a privileged pod on any node**, where the " +
		"ConfigMap `drover-instance-manager-images` does not bound it (`instance-manager-image.longhorn.io`)",
	{kind: "nodedataengineupgrades.longhorn.io/status"}: "lets an instance manager be replaced before its " +
		"volumes left it, so that they fail",
	{kind: "engines.longhorn.io", binary: "upgrade-controller"}: "requests polls of engines; any other " +
		"change is refused (`drover-upgrade-controller-fields`)",
	{kind: "nodes.longhorn.io", binary: "upgrade-controller"}: "cordons nodes for new instances; any other change is " +
		"refused (`drover-upgrade-controller-fields`)",
	{kind: "volumes.longhorn.io", binary: "upgrade-controller"}: "moves the targets of attached v2 volumes to other " +
		"nodes; any other change is refused (`drover-upgrade-controller-fields`)",
	{kind: "snapshots.longhorn.io", binary: "upgrade-controller"}: "**deletes snapshots**, and takes some",

	// orphan-controller.
	{kind: "orphans.longhorn.io", binary: "orphan-controller"}: "**deletes Orphans as a person would, and with them the data " +
		"of orphaned replicas**",
	{kind: "orphans.longhorn.io/status", binary: "orphan-controller"}:     "approves that orphaned instances are ended, before their time",
	{kind: "settings.longhorn.io", name: "orphan-resource-auto-deletion"}: "switches the automatic deletion of orphans on, or off",
	{kind: "settings.longhorn.io", name: "orphan-auto-deletion"}:          "removes the old name of that setting",

	// api-gateway.
	{kind: "tokenreviews.authentication.k8s.io"}:                   "learns whose a token is that he has already",
	{kind: "subjectaccessreviews.authorization.k8s.io"}:            "learns what every account may do",
	{kind: "volumes.longhorn.io", binary: "api-gateway"}:           "**deletes every volume with its data**, and creates and changes any",
	{kind: "volumeattachments.longhorn.io", binary: "api-gateway"}: "attaches and detaches every volume by tickets",
	{kind: "snapshots.longhorn.io", binary: "api-gateway"}:         "**deletes snapshots**, and takes some",
	{kind: "backups.longhorn.io", binary: "api-gateway"}:           "**deletes backups**, and takes some",
	{kind: "orphans.longhorn.io", binary: "api-gateway"}: "**deletes Orphans as a person would, and with them the data of " +
		"orphaned replicas**",
	{kind: "nodes.longhorn.io", binary: "api-gateway"}: "takes nodes and disks out of service, adds disks, and deletes Nodes that are gone",
	{kind: "replicas.longhorn.io", binary: "api-gateway"}: "**deletes replicas**, and takes failed ones back, with whatever data " +
		"they have",
	{kind: "settings.longhorn.io", binary: "api-gateway"}: "**names the image of privileged pods**, where the ConfigMap " +
		"`drover-instance-manager-images` does not bound it, and changes every other setting",
	{kind: "recurringjobs.longhorn.io", binary: "api-gateway"}: "changes which snapshots and backups are taken, and how many stay",
	{kind: "backuptargets.longhorn.io", binary: "api-gateway"}: "sends backups elsewhere, with the Secret of the namespace that he names",
	{kind: "persistentvolumeclaims", binary: "api-gateway"}: "raises the requested size of claims of all namespaces, and changes their " +
		"labels and annotations",
}
