package v1beta2

// Condition types of a Node; writer im-monitor.
const (
	// NodeReady is True while the Kubernetes node is ready and at least one of its instance managers answers.
	NodeReady = "Ready"
	// NodeSchedulable is False while the Kubernetes node is cordoned and the setting
	// disable-scheduling-on-cordoned-node is true.
	NodeSchedulable = "Schedulable"
	// NodeRemoved is on a Node that is being deleted: False states what its removal waits for.
	NodeRemoved = "Removed"
)

// Reasons of NodeReady being False. Only the first two mean that the node is down.
const (
	// ReasonKubernetesNodeGone surfaces when no Kubernetes node of that name exists.
	ReasonKubernetesNodeGone = "KubernetesNodeGone"
	// ReasonKubernetesNodeNotReady surfaces when the Kubernetes node's Ready condition is not True.
	ReasonKubernetesNodeNotReady = "KubernetesNodeNotReady"
	// ReasonManagerPodMissing surfaces when the node has no instance-manager pod; it does not prove the node down.
	ReasonManagerPodMissing = "ManagerPodMissing"
	// ReasonManagerPodDown surfaces when no instance-manager pod of the node runs; it does not prove the node down.
	ReasonManagerPodDown = "ManagerPodDown"
	// ReasonInstanceManagerUnreachable surfaces when the node's instance managers run and none of them answers; it
	// does not prove the node down.
	ReasonInstanceManagerUnreachable = "InstanceManagerUnreachable"
	// ReasonNodeReady surfaces when the Kubernetes node is ready and at least one of its instance managers answers; of an InstanceManager,
	// when its Kubernetes node is ready.
	ReasonNodeReady = "NodeReady"
)

// Reasons of NodeSchedulable.
const (
	// ReasonKubernetesNodeCordoned surfaces while the Kubernetes node is cordoned and the setting disable-scheduling-on-cordoned-node is
	// true.
	ReasonKubernetesNodeCordoned = "KubernetesNodeCordoned"
	// ReasonSchedulable surfaces when nothing speaks against new replicas on the node or the disk.
	ReasonSchedulable = "Schedulable"
)

// Reasons of NodeRemoved being False.
const (
	// ReasonKubernetesNodeInService surfaces while the Kubernetes node exists and is not cordoned.
	ReasonKubernetesNodeInService = "KubernetesNodeInService"
	// ReasonInstanceManagersRemain surfaces while instance managers of the node remain; the message names them.
	ReasonInstanceManagersRemain = "InstanceManagersRemain"
)

// Condition types of a Node; writer disk-controller of that node.
const (
	// NodeDefaultsApplied is False while default disks or tags of the node cannot be written; it is absent if there is no such problem.
	NodeDefaultsApplied = "DefaultsApplied"
	// NodeMountPropagation is True if mounts that are made on the node later are seen in pods.
	NodeMountPropagation = "MountPropagation"
	// NodeKernelModulesLoaded is True if the kernel of the node has the modules that the enabled data engines need.
	NodeKernelModulesLoaded = "KernelModulesLoaded"
	// NodeRequiredPackages is True if the node has the programs that volumes need.
	NodeRequiredPackages = "RequiredPackages"
)

// Reasons of NodeMountPropagation, NodeKernelModulesLoaded and NodeRequiredPackages. The reasons of False are spelled as Longhorn spells
// them.
const (
	// ReasonMountsPropagate surfaces when the directories of the node that disk-controller sees get the mounts that are made in them later.
	ReasonMountsPropagate = "MountsPropagate"
	// ReasonNoMountPropagationSupport surfaces when mounts of the node are private; the message names the directories.
	ReasonNoMountPropagationSupport = "NoMountPropagationSupport"
	// ReasonModulesLoaded surfaces when the kernel has the modules, loaded or built in.
	ReasonModulesLoaded = "ModulesLoaded"
	// ReasonKernelModulesNotLoaded surfaces when the kernel lacks a module; the message has the command that loads it.
	ReasonKernelModulesNotLoaded = "KernelModulesNotLoaded"
	// ReasonPackagesInstalled surfaces when the node has the programs.
	ReasonPackagesInstalled = "PackagesInstalled"
	// ReasonPackagesNotInstalled surfaces when the node lacks a program; the message names it and its package.
	ReasonPackagesNotInstalled = "PackagesNotInstalled"
	// ReasonNotVisible surfaces with the status Unknown while disk-controller does not see the part of the node that would show it.
	ReasonNotVisible = "NotVisible"
)

// Reasons of NodeDefaultsApplied being False.
const (
	// ReasonInvalidDefaults surfaces while a label or annotation for default disks or tags cannot be used; the message names it and why.
	ReasonInvalidDefaults = "InvalidDefaults"
	// ReasonNoDirectory surfaces while the directory of a default disk cannot be used.
	ReasonNoDirectory = "NoDirectory"
)

// Condition types of a disk in Node.status.diskStatus; writer im-monitor for v2 disks, disk-controller for v1 disks.
const (
	// DiskReady is True while a v2 disk is loaded and holds the lvstore whose UUID is recorded, and while the directory of a v1 disk has the
	// configuration file with the recorded UUID.
	DiskReady = "Ready"
	// DiskSchedulable is True while new replicas may be placed on the disk.
	DiskSchedulable = "Schedulable"
)

// Values of DiskSpec.Initialize; InitializeAdopt is followed by the UUID of an lvstore.
const (
	InitializeNew   = "new"
	InitializeAdopt = "adopt:"
)

// Reasons of DiskReady and DiskSchedulable. Those that Longhorn has, too, are spelled as it spells them.
const (
	// ReasonDiskReady surfaces when the instance manager reports the disk ready with the recorded UUID; of a v1 disk, when its directory has
	// the recorded UUID.
	ReasonDiskReady = "DiskReady"
	// ReasonNoDiskInfo surfaces while nothing is known of the disk: no v2 instance manager of the node answers, a
	// call failed, or the disk is being loaded or could not be; of a v1 disk, while its directory cannot be used. The message states which.
	ReasonNoDiskInfo = "NoDiskInfo"
	// ReasonNotInitialized surfaces while no UUID is recorded and spec.disks does not say what may be done with the device; the
	// message contains the command.
	ReasonNotInitialized = "NotInitialized"
	// ReasonInitializationUncertain surfaces when the server was restarted while a disk was initialized as new, so that it
	// is unknown whether the device was formatted; a person must decide.
	ReasonInitializationUncertain = "InitializationUncertain"
	// ReasonDiskFilesystemChanged surfaces when the device holds another lvstore than the one that is recorded, or the directory of a v1 disk
	// another UUID or none; also when a disk is in the place of another disk.
	ReasonDiskFilesystemChanged = "DiskFilesystemChanged"
	// ReasonDiskNotReady surfaces while the disk's condition Ready is not True.
	ReasonDiskNotReady = "DiskNotReady"
	// ReasonContentNotListed surfaces until the replicas that the disk held at its first load in this cluster are listed completely.
	ReasonContentNotListed = "ContentNotListed"
	// ReasonDiskPressure surfaces while the disk has too little space for another replica.
	ReasonDiskPressure = "DiskPressure"
)

// Condition types of an InstanceManager; writer im-monitor.
const (
	// InstanceManagerNodeReady is False while the Kubernetes node is down: the state is then unknown.
	InstanceManagerNodeReady = "NodeReady"
	// InstanceManagerPodReady is True while the pod is ready.
	InstanceManagerPodReady = "PodReady"
	// InstanceManagerSettingSynced is True while the pod was created with the settings now in force.
	InstanceManagerSettingSynced = "SettingSynced"
	// InstanceManagerReachable is True while complete lists can be read; it is absent while no pod runs.
	InstanceManagerReachable = "Reachable"
	// InstanceManagerFrontendRecords is True while the pod of a v2 one keeps its records of engine frontends on the host, so that frontends
	// outlive the pod; it is absent for v1 and while there is no pod.
	InstanceManagerFrontendRecords = "FrontendRecords"
)

// Reasons of the conditions of an InstanceManager. ReasonKubernetesNodeGone, ReasonKubernetesNodeNotReady and
// ReasonNodeReady are those of InstanceManagerNodeReady.
const (
	// ReasonPodReady surfaces when the pod is ready.
	ReasonPodReady = "PodReady"
	// ReasonPodMissing surfaces when there is no pod.
	ReasonPodMissing = "PodMissing"
	// ReasonPodStarting surfaces until a new pod is ready.
	ReasonPodStarting = "PodStarting"
	// ReasonPodCannotStart surfaces while the kubelet cannot start a new pod, for instance because its image cannot be pulled.
	ReasonPodCannotStart = "PodCannotStart"
	// ReasonPodFailed surfaces when the pod ended by itself; it is replaced with back-off.
	ReasonPodFailed = "PodFailed"
	// ReasonPodDeleting surfaces while the pod is being deleted.
	ReasonPodDeleting = "PodDeleting"
	// ReasonPodBlocked surfaces while another v2 instance manager of the node still has a pod.
	ReasonPodBlocked = "PodBlocked"
	// ReasonPodRefused surfaces while no pod may be created: the image cannot serve v2 volumes, or the setting storage-network cannot be
	// obeyed; the message states which.
	ReasonPodRefused = "PodRefused"
	// ReasonSettingsInForce surfaces when the pod carries the settings now in force.
	ReasonSettingsInForce = "SettingsInForce"
	// ReasonSettingsChanged surfaces when settings changed after the pod was created; it is replaced once nothing runs on it.
	ReasonSettingsChanged = "SettingsChanged"
	// ReasonReplacing surfaces while an instance manager that is no longer wanted waits until nothing runs on it.
	ReasonReplacing = "Replacing"
	// ReasonVolumeUnsettled surfaces while an idle instance manager that must be replaced stays because a volume may need its
	// replicas.
	ReasonVolumeUnsettled = "VolumeUnsettled"
	// ReasonSettingsLeftOut surfaces while the image of the pod has no option for a setting in force: the pod runs without it.
	ReasonSettingsLeftOut = "SettingsLeftOut"
	// ReasonLogsNotSet surfaces while the server fails to obey the settings for its logs; the message has its answer.
	ReasonLogsNotSet = "LogsNotSet"
	// ReasonOnHost surfaces when the pod mounts a directory of the host at /metadata.
	ReasonOnHost = "OnHost"
	// ReasonNotOnHost surfaces when the pod mounts none there, or when the end of a pod of its image removes the node's block devices. Its
	// frontends are lost with it.
	ReasonNotOnHost = "NotOnHost"
	// ReasonAnswering surfaces when InstanceManagerReachable is True.
	ReasonAnswering = "Answering"
	// ReasonNotAnswering surfaces when InstanceManagerReachable is False.
	ReasonNotAnswering = "NotAnswering"
)
