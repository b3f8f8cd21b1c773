package v1beta2

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Tasks of a RecurringJob that Drover does.
const (
	RecurringTaskSnapshot            = "snapshot"
	RecurringTaskSnapshotForceCreate = "snapshot-force-create"
	RecurringTaskSnapshotDelete      = "snapshot-delete"
	RecurringTaskSnapshotCleanup     = "snapshot-cleanup"
	RecurringTaskBackup              = "backup"
	RecurringTaskBackupForceCreate   = "backup-force-create"
)

// Tasks of a RecurringJob that Longhorn does alone.
const (
	RecurringTaskFilesystemTrim = "filesystem-trim"
	RecurringTaskSystemBackup   = "system-backup"
)

// Which volumes a RecurringJob is for, and whose a Snapshot is.
const (
	// LabelRecurringJobPrefix and a job's name make the label by which a volume names the job.
	LabelRecurringJobPrefix = "recurring-job.longhorn.io/"
	// LabelRecurringGroupPrefix and a group's name make the label by which a volume names the group.
	LabelRecurringGroupPrefix = "recurring-job-group.longhorn.io/"
	// LabelRecurringSource, on a PersistentVolumeClaim, makes the claim's labels name the jobs instead of its volume's.
	LabelRecurringSource = "recurring-job.longhorn.io/source"
	// RecurringEnabled is the value of these labels; any other value means that the label does not count.
	RecurringEnabled = "enabled"
	// RecurringGroupDefault is the group of every volume that names no job and no group.
	RecurringGroupDefault = "default"
	// LabelRecurringJob, among the labels of a Snapshot's spec, names the job that created it.
	LabelRecurringJob = "RecurringJob"
)

// RecurringJobSpec is what to do, when, and for which volumes.
// +kubebuilder:validation:XValidation:rule=`(self.?retentionPolicy.orValue("") != "age-based" || self.?retainAge.orValue("") != "") || (oldSelf.hasValue() && !(oldSelf.value().?retentionPolicy.orValue("") != "age-based" || oldSelf.value().?retainAge.orValue("") != ""))`,message="a job that keeps by age needs spec.retainAge, such as 72h",optionalOldSelf=true
// +kubebuilder:pruning:PreserveUnknownFields
type RecurringJobSpec struct {
	// How many volumes are worked on at a time. Written by a person; absent means 1.
	// +kubebuilder:validation:XValidation:rule=`self >= 0`,message="spec.concurrency must be 0 or more volumes at a time; 0 is one"
	// +optional
	Concurrency int `json:"concurrency,omitempty"`
	// When it runs, as five cron fields in UTC; CRON_TZ=<zone> before them means that time zone, in which a time that
	// clocks leave out comes as they are put forward, and one that they show twice comes once. @every 6h counts from the
	// last run. Written by a person; absent means it never runs.
	// +kubebuilder:validation:MaxLength=256
	// +kubebuilder:validation:XValidation:rule=`self == "" || self.matches("^[ \\t]*((CRON_TZ|TZ)=[^ ]+ +)?(@(yearly|annually|monthly|weekly|daily|midnight|hourly|every +[0-9a-z.]+)|[^ \\t@]+([ \\t]+[^ \\t]+){4})[ \\t]*$")`,message="spec.cron must be five fields (minute, hour, day of month, month, day of week), such as 30 2 * * *, or @daily, or @every 6h; CRON_TZ=<zone> may stand before them"
	// +optional
	Cron string `json:"cron,omitempty"`
	// Groups of volumes that it is for; default is every volume that names no job and no group. Written by a person;
	// absent means only volumes that name it.
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:XValidation:rule=`self.all(group, group != "")`,message="a group in spec.groups must not be empty"
	// +kubebuilder:validation:XValidation:rule=`self.all(group, group == "" || group.matches("^[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$"))`,message="a group in spec.groups must fit into a label by which volumes name it: at most 63 letters, digits, -, _ and ."
	// +optional
	Groups []string `json:"groups,omitempty"`
	// Labels that its snapshots and backups get. Written by a person; absent means none.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// Name of the job. Written by a person; absent means metadata.name.
	// +optional
	Name string `json:"name,omitempty"`
	// Further values for the task; full-backup-interval is at which runs backups upload everything, 3 is each third.
	// Written by a person; absent means none.
	// +kubebuilder:validation:MaxProperties=64
	// +kubebuilder:validation:XValidation:rule=`!("full-backup-interval" in self) || self["full-backup-interval"].matches("^[0-9]{0,9}$")`,message="full-backup-interval in spec.parameters must be a whole number of runs, such as \"3\" for each third; 0 is never"
	// +optional
	Parameters map[string]string `json:"parameters,omitempty"`
	// How many snapshots or backups of each volume are kept. Written by a person; absent means 0, all of them.
	// +kubebuilder:validation:XValidation:rule=`self >= 0 && self <= 250`,message="spec.retain must be 0 to 250; 0 keeps all"
	// +optional
	Retain int `json:"retain,omitempty"`
	// How long snapshots or backups are kept, as a duration. Written by a person; absent means not kept by age.
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:XValidation:rule=`self == "" || self.matches("^([0-9]+([.][0-9]+)?(ns|us|ms|s|m|h))+$")`,message="spec.retainAge must be a duration, such as 72h"
	// +optional
	RetainAge string `json:"retainAge,omitempty"`
	// Whether retain or retainAge decides what is kept. Written by a person; absent means count-based.
	// +kubebuilder:validation:Enum=count-based;age-based
	// +optional
	RetentionPolicy string `json:"retentionPolicy,omitempty"`
	// What it does; filesystem-trim and system-backup are not done by Drover. Written by a person; absent means
	// nothing.
	// +kubebuilder:validation:Enum=snapshot;snapshot-force-create;snapshot-cleanup;snapshot-delete;backup;backup-force-create;filesystem-trim;system-backup
	// +optional
	Task string `json:"task,omitempty"`
}

// RecurringJobStatus is how the job went.
// +kubebuilder:pruning:PreserveUnknownFields
type RecurringJobStatus struct {
	// RFC 3339 time for which the run was due that is under way, written before the first snapshot of it. Written by
	// snapshot-controller; absent means none is.
	// +optional
	CurrentRun string `json:"currentRun,omitempty"`
	// How often it ran. Written by snapshot-controller; absent means 0.
	// +optional
	ExecutionCount int `json:"executionCount,omitempty"`
	// RFC 3339 time for which the last run was due that ended. Written by snapshot-controller; absent means
	// it has not run yet.
	// +optional
	LastRun string `json:"lastRun,omitempty"`
	// Node whose controller manages it; kept for objects that Longhorn created. Written by Longhorn; absent means unknown.
	// +optional
	OwnerID string `json:"ownerID,omitempty"`
	// RFC 3339 time at which snapshot-controller first saw it; runs that were due before are not made up for. Written by
	// snapshot-controller; absent means it was not seen yet.
	// +optional
	ScheduledSince string `json:"scheduledSince,omitempty"`
	// Whether it is scheduled, with its last and its next run: Ready. Written by the writer of each type; absent
	// means nothing is known.
	// +nullable
	// +listType=map
	// +listMapKey=type
	// +optional
	Conditions []Condition `json:"conditions,omitempty"`
	// The metadata.generation that this status describes. Written by snapshot-controller; absent means unknown.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
}

// +kubebuilder:validation:XValidation:rule=`oldSelf.hasValue() || self.metadata.name.size() <= 63`,message="the name of a RecurringJob must have at most 63 characters: volumes name it by a label",optionalOldSelf=true
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="drover.dev/contract=1"
// +kubebuilder:resource:path=recurringjobs,shortName=lhrj,scope=Namespaced,categories=longhorn
// +kubebuilder:selectablefield:JSONPath=`.spec.task`
// +kubebuilder:printcolumn:name="Task",type=string,JSONPath=`.spec.task`
// +kubebuilder:printcolumn:name="Cron",type=string,JSONPath=`.spec.cron`
// +kubebuilder:printcolumn:name="Groups",type=string,JSONPath=`.spec.groups`
// +kubebuilder:printcolumn:name="Retain",type=integer,JSONPath=`.spec.retain`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Why",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Concurrency",type=integer,JSONPath=`.spec.concurrency`,priority=1
// +kubebuilder:printcolumn:name="Runs",type=integer,JSONPath=`.status.executionCount`,priority=1
// +kubebuilder:printcolumn:name="Message",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,priority=1

// RecurringJob takes or removes snapshots and backups of the volumes that name it, on a schedule.
type RecurringJob struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec RecurringJobSpec `json:"spec,omitzero"`
	// +optional
	Status RecurringJobStatus `json:"status,omitzero"`
}

// +kubebuilder:object:root=true

// RecurringJobList is a list of RecurringJob objects.
type RecurringJobList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []RecurringJob `json:"items"`
}
