package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// SettingStatus reports whether a setting is in force.
// +kubebuilder:pruning:PreserveUnknownFields
type SettingStatus struct {
	// Whether the value is in force; false beside a value that cannot be read: the last valid one is then still in
	// force, and beside a setting that no controller of Drover obeys. Written by the controller that reads the setting;
	// absent means false. Where several read it one of them writes, and where none does attach-controller.
	// +required
	Applied bool `json:"applied"`
	// Whether the value is in force, and why it is not: Applied. Written by the controller that reads the setting;
	// absent means nothing is known.
	// +nullable
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
	// The metadata.generation that this status describes. Written by the controller that reads the setting; absent
	// means unknown.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="drover.dev/contract=1"
// +kubebuilder:resource:path=settings,shortName=lhs,scope=Namespaced,categories=longhorn
// +kubebuilder:printcolumn:name="Value",type=string,JSONPath=`.value`
// +kubebuilder:printcolumn:name="Applied",type=boolean,JSONPath=`.status.applied`
// +kubebuilder:printcolumn:name="Why",type=string,JSONPath=`.status.conditions[?(@.type=="Applied")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Applied")].message`,priority=1
// +kubebuilder:validation:XValidation:rule=`(oldSelf.hasValue() && oldSelf.value().value == self.value) || self.metadata.name != 'orphan-resource-auto-deletion' || self.value.size() <= 256`,message="orphan-resource-auto-deletion is too long: name each of replica-data and instance once, separated by a semicolon",fieldPath=".value",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`(oldSelf.hasValue() && oldSelf.value().value == self.value) || self.metadata.name != 'orphan-resource-auto-deletion' || self.value.matches('^[[:blank:]]*((replica-data|instance)[[:blank:]]*(;[[:blank:]]*(replica-data|instance)[[:blank:]]*)*)?$')`,message="orphan-resource-auto-deletion is a list of replica-data and instance, separated by semicolons, without an empty or trailing item; an empty value turns auto deletion off",fieldPath=".value",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`(oldSelf.hasValue() && oldSelf.value().value == self.value) || !(self.metadata.name in ['orphan-auto-deletion', 'disable-snapshot-purge', 'auto-cleanup-system-generated-snapshot', 'auto-salvage', 'detach-manually-attached-volumes-when-cordoned', 'replica-soft-anti-affinity', 'replica-zone-soft-anti-affinity', 'replica-disk-soft-anti-affinity', 'disable-scheduling-on-cordoned-node', 'offline-replica-rebuilding', 'allow-recurring-job-while-volume-detached', 'v1-data-engine', 'v2-data-engine', 'auto-delete-pod-when-volume-detached-unexpectedly', 'disable-revision-counter', 'kubernetes-cluster-autoscaler-enabled', 'remove-snapshots-during-filesystem-trim']) || self.value.matches('^((true|false)|[{] *"v[12]" *: *"(true|false)" *(, *"v[12]" *: *"(true|false)" *)?[}])$')`,message="this setting is true or false, or one for each data engine such as {\"v1\":\"true\",\"v2\":\"false\"}",fieldPath=".value",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`(oldSelf.hasValue() && oldSelf.value().value == self.value) || self.metadata.name != 'orphan-resource-auto-deletion-grace-period' || self.value.matches('^(([0-9]{1,9}|[1-2][0-9]{9}|30[0-9]{8}|31[0-4][0-9]{7}|315[0-2][0-9]{6}|3153[0-5][0-9]{5}|3153600000)|[{] *"v[12]" *: *"([0-9]{1,9}|[1-2][0-9]{9}|30[0-9]{8}|31[0-4][0-9]{7}|315[0-2][0-9]{6}|3153[0-5][0-9]{5}|3153600000)" *(, *"v[12]" *: *"([0-9]{1,9}|[1-2][0-9]{9}|30[0-9]{8}|31[0-4][0-9]{7}|315[0-2][0-9]{6}|3153[0-5][0-9]{5}|3153600000)" *)?[}])$')`,message="orphan-resource-auto-deletion-grace-period is a whole number of seconds from 0 to 3153600000, without unit, or one for each data engine such as {\"v1\":\"300\",\"v2\":\"300\"}",fieldPath=".value",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`(oldSelf.hasValue() && oldSelf.value().value == self.value) || self.metadata.name != 'replica-replenishment-wait-interval' || self.value.matches('^(([0-9]{1,9}|1[0-9]{9}|20[0-9]{8}|21[0-3][0-9]{7}|214[0-6][0-9]{6}|2147[0-3][0-9]{5}|21474[0-7][0-9]{4}|214748[0-2][0-9]{3}|2147483[0-5][0-9]{2}|21474836[0-3][0-9]|214748364[0-7])|[{] *"v[12]" *: *"([0-9]{1,9}|1[0-9]{9}|20[0-9]{8}|21[0-3][0-9]{7}|214[0-6][0-9]{6}|2147[0-3][0-9]{5}|21474[0-7][0-9]{4}|214748[0-2][0-9]{3}|2147483[0-5][0-9]{2}|21474836[0-3][0-9]|214748364[0-7])" *(, *"v[12]" *: *"([0-9]{1,9}|1[0-9]{9}|20[0-9]{8}|21[0-3][0-9]{7}|214[0-6][0-9]{6}|2147[0-3][0-9]{5}|21474[0-7][0-9]{4}|214748[0-2][0-9]{3}|2147483[0-5][0-9]{2}|21474836[0-3][0-9]|214748364[0-7])" *)?[}])$')`,message="replica-replenishment-wait-interval is a whole number of seconds from 0 to 2147483647, without unit, or one for each data engine such as {\"v1\":\"300\",\"v2\":\"300\"}",fieldPath=".value",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`(oldSelf.hasValue() && oldSelf.value().value == self.value) || self.metadata.name != 'snapshot-heavy-task-concurrent-limit' || self.value.matches('^(([0-9]{1,5}|100000)|[{] *"v[12]" *: *"([0-9]{1,5}|100000)" *(, *"v[12]" *: *"([0-9]{1,5}|100000)" *)?[}])$')`,message="snapshot-heavy-task-concurrent-limit is a whole number of volumes from 0 to 100000, without unit (0 is no limit), or one for each data engine such as {\"v1\":\"3\",\"v2\":\"3\"}",fieldPath=".value",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`(oldSelf.hasValue() && oldSelf.value().value == self.value) || self.metadata.name != 'concurrent-replica-rebuild-per-node-limit' || self.value.matches('^(([0-9]{1,3}|1000)|[{] *"v[12]" *: *"([0-9]{1,3}|1000)" *(, *"v[12]" *: *"([0-9]{1,3}|1000)" *)?[}])$')`,message="concurrent-replica-rebuild-per-node-limit is a whole number of rebuilds from 0 to 1000, without unit (0 stops rebuilding), or one for each data engine such as {\"v1\":\"3\",\"v2\":\"3\"}",fieldPath=".value",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`(oldSelf.hasValue() && oldSelf.value().value == self.value) || self.metadata.name != 'storage-over-provisioning-percentage' || self.value.matches('^(([0-9]{1,5}|100000)|[{] *"v[12]" *: *"([0-9]{1,5}|100000)" *(, *"v[12]" *: *"([0-9]{1,5}|100000)" *)?[}])$')`,message="storage-over-provisioning-percentage is a whole number of per cent from 0 to 100000, without unit, or one for each data engine such as {\"v1\":\"100\",\"v2\":\"100\"}",fieldPath=".value",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`(oldSelf.hasValue() && oldSelf.value().value == self.value) || self.metadata.name != 'snapshot-max-count' || self.value.matches('^(([2-9]|[1-9][0-9]|1[0-9]{2}|2[0-4][0-9]|250)|[{] *"v[12]" *: *"([2-9]|[1-9][0-9]|1[0-9]{2}|2[0-4][0-9]|250)" *(, *"v[12]" *: *"([2-9]|[1-9][0-9]|1[0-9]{2}|2[0-4][0-9]|250)" *)?[}])$')`,message="snapshot-max-count is a whole number of snapshots from 2 to 250, without unit, or one for each data engine such as {\"v1\":\"3\",\"v2\":\"3\"}",fieldPath=".value",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`(oldSelf.hasValue() && oldSelf.value().value == self.value) || self.metadata.name != 'default-replica-count' || self.value.matches('^(([1-9]|1[0-9]|20)|[{] *"v[12]" *: *"([1-9]|1[0-9]|20)" *(, *"v[12]" *: *"([1-9]|1[0-9]|20)" *)?[}])$')`,message="default-replica-count is a whole number of replicas from 1 to 20, without unit, or one for each data engine such as {\"v1\":\"3\",\"v2\":\"3\"}",fieldPath=".value",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`(oldSelf.hasValue() && oldSelf.value().value == self.value) || self.metadata.name != 'storage-minimal-available-percentage' || self.value.matches('^(([0-9]{1,2}|100)|[{] *"v[12]" *: *"([0-9]{1,2}|100)" *(, *"v[12]" *: *"([0-9]{1,2}|100)" *)?[}])$')`,message="storage-minimal-available-percentage is a whole number of per cent from 0 to 100, without unit, or one for each data engine such as {\"v1\":\"100\",\"v2\":\"100\"}",fieldPath=".value",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`(oldSelf.hasValue() && oldSelf.value().value == self.value) || self.metadata.name != 'engine-replica-timeout' || self.value.matches('^(([8-9]|[1-2][0-9]|30)|[{] *"v[12]" *: *"([8-9]|[1-2][0-9]|30)" *(, *"v[12]" *: *"([8-9]|[1-2][0-9]|30)" *)?[}])$')`,message="engine-replica-timeout is a whole number of seconds from 8 to 30, without unit, or one for each data engine such as {\"v1\":\"8\",\"v2\":\"8\"}",fieldPath=".value",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`(oldSelf.hasValue() && oldSelf.value().value == self.value) || self.metadata.name != 'replica-file-sync-http-client-timeout' || self.value.matches('^(([5-9]|[1-9][0-9]|1[0-1][0-9]|120)|[{] *"v[12]" *: *"([5-9]|[1-9][0-9]|1[0-1][0-9]|120)" *(, *"v[12]" *: *"([5-9]|[1-9][0-9]|1[0-1][0-9]|120)" *)?[}])$')`,message="replica-file-sync-http-client-timeout is a whole number of seconds from 5 to 120, without unit, or one for each data engine such as {\"v1\":\"5\",\"v2\":\"5\"}",fieldPath=".value",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`(oldSelf.hasValue() && oldSelf.value().value == self.value) || self.metadata.name != 'replica-rebuild-concurrent-sync-limit' || self.value.matches('^(([1-5])|[{] *"v[12]" *: *"([1-5])" *(, *"v[12]" *: *"([1-5])" *)?[}])$')`,message="replica-rebuild-concurrent-sync-limit is a whole number of files from 1 to 5, without unit, or one for each data engine such as {\"v1\":\"3\",\"v2\":\"3\"}",fieldPath=".value",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`(oldSelf.hasValue() && oldSelf.value().value == self.value) || self.metadata.name != 'backup-concurrent-limit' || self.value.matches('^(([1-9][0-9]{0,2}|1000)|[{] *"v[12]" *: *"([1-9][0-9]{0,2}|1000)" *(, *"v[12]" *: *"([1-9][0-9]{0,2}|1000)" *)?[}])$')`,message="backup-concurrent-limit is a whole number of blocks from 1 to 1000, without unit, or one for each data engine such as {\"v1\":\"3\",\"v2\":\"3\"}",fieldPath=".value",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`(oldSelf.hasValue() && oldSelf.value().value == self.value) || self.metadata.name != 'restore-concurrent-limit' || self.value.matches('^(([1-9][0-9]{0,2}|1000)|[{] *"v[12]" *: *"([1-9][0-9]{0,2}|1000)" *(, *"v[12]" *: *"([1-9][0-9]{0,2}|1000)" *)?[}])$')`,message="restore-concurrent-limit is a whole number of blocks from 1 to 1000, without unit, or one for each data engine such as {\"v1\":\"3\",\"v2\":\"3\"}",fieldPath=".value",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`(oldSelf.hasValue() && oldSelf.value().value == self.value) || self.metadata.name != 'default-ublk-queue-depth' || self.value.matches('^(([1-9]|[1-9][0-9]|[1-9][0-9]{2}|[1-3][0-9]{3}|40[0-8][0-9]|409[0-6])|[{] *"v[12]" *: *"([1-9]|[1-9][0-9]|[1-9][0-9]{2}|[1-3][0-9]{3}|40[0-8][0-9]|409[0-6])" *(, *"v[12]" *: *"([1-9]|[1-9][0-9]|[1-9][0-9]{2}|[1-3][0-9]{3}|40[0-8][0-9]|409[0-6])" *)?[}])$')`,message="default-ublk-queue-depth is a whole number of requests from 1 to 4096, without unit, or one for each data engine such as {\"v1\":\"3\",\"v2\":\"3\"}",fieldPath=".value",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`(oldSelf.hasValue() && oldSelf.value().value == self.value) || self.metadata.name != 'default-ublk-number-of-queue' || self.value.matches('^(([1-9]|[1-9][0-9]|1[0-1][0-9]|12[0-8])|[{] *"v[12]" *: *"([1-9]|[1-9][0-9]|1[0-1][0-9]|12[0-8])" *(, *"v[12]" *: *"([1-9]|[1-9][0-9]|1[0-1][0-9]|12[0-8])" *)?[}])$')`,message="default-ublk-number-of-queue is a whole number of queues from 1 to 128, without unit, or one for each data engine such as {\"v1\":\"3\",\"v2\":\"3\"}",fieldPath=".value",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`(oldSelf.hasValue() && oldSelf.value().value == self.value) || self.metadata.name != 'default-nvme-tcp-nr-io-queues' || self.value.matches('^(([0-9]{1,2}|1[0-1][0-9]|12[0-8])|[{] *"v[12]" *: *"([0-9]{1,2}|1[0-1][0-9]|12[0-8])" *(, *"v[12]" *: *"([0-9]{1,2}|1[0-1][0-9]|12[0-8])" *)?[}])$')`,message="default-nvme-tcp-nr-io-queues is a whole number of queues from 0 to 128, without unit (0 leaves it to the kernel), or one for each data engine such as {\"v1\":\"3\",\"v2\":\"3\"}",fieldPath=".value",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`(oldSelf.hasValue() && oldSelf.value().value == self.value) || self.metadata.name != 'snapshot-count-warning-threshold' || self.value.matches('^([0-9]{1,9}|[{] *"v[12]" *: *"[0-9]{1,9}" *(, *"v[12]" *: *"[0-9]{1,9}" *)?[}])$')`,message="snapshot-count-warning-threshold is a whole number of snapshots, 0 or more, without unit",fieldPath=".value",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`(oldSelf.hasValue() && oldSelf.value().value == self.value) || self.metadata.name != 'node-drain-policy' || self.value.matches('^(always-allow|allow-if-replica-is-stopped|block-if-contains-last-replica|block-for-eviction-if-contains-last-replica|block-for-eviction)$')`,message="node-drain-policy is always-allow, allow-if-replica-is-stopped, block-if-contains-last-replica, block-for-eviction-if-contains-last-replica or block-for-eviction",fieldPath=".value",optionalOldSelf=true
// +kubebuilder:validation:XValidation:rule=`(oldSelf.hasValue() && oldSelf.value().value == self.value) || !(self.metadata.name == 'node-down-pod-deletion-policy') || self.value.matches('^(do-nothing|delete-statefulset-pod|delete-deployment-pod|delete-both-statefulset-and-deployment-pod)$')`,message="node-down-pod-deletion-policy is do-nothing, delete-statefulset-pod, delete-deployment-pod or delete-both-statefulset-and-deployment-pod",fieldPath=".value",optionalOldSelf=true

// Setting is one named value that a person sets for the whole system.
type Setting struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// The value, as text; what it may be depends on the setting's name. Written by a person; an empty value is the
	// default of some settings, and refused by others.
	// +kubebuilder:validation:MaxLength=16384
	// +required
	Value string `json:"value"`
	// +optional
	Status SettingStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// SettingList is a list of Setting objects.
type SettingList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []Setting `json:"items"`
}
