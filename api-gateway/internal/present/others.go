package present

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/api-gateway/internal/wire"
	"drover.dev/drover/shared/api/v1beta2"
)

// Orphan is an instance, or data, that no object claims.
type Orphan struct {
	wire.Meta
	Name       string            `json:"name"`
	NodeID     string            `json:"nodeID"`
	OrphanType string            `json:"orphanType"`
	DataEngine string            `json:"dataEngine"`
	Parameters map[string]string `json:"parameters"`
}

// NewOrphan returns an orphan as clients see it.
func NewOrphan(base string, o *v1beta2.Orphan) Orphan {
	return Orphan{Meta: wire.NewMeta(base, wire.TypeOrphan, o.Name), Name: o.Name, NodeID: o.Spec.NodeID, OrphanType: o.Spec.OrphanType,
		DataEngine: o.Spec.DataEngine, Parameters: table(o.Spec.Parameters)}
}

// InstanceManager runs the instances of a node.
type InstanceManager struct {
	wire.Meta
	Name                    string                             `json:"name"`
	CurrentState            string                             `json:"currentState"`
	Image                   string                             `json:"image"`
	NodeID                  string                             `json:"nodeID"`
	ManagerType             string                             `json:"managerType"`
	DataEngine              string                             `json:"dataEngine"`
	InstanceEngines         map[string]v1beta2.InstanceProcess `json:"instanceEngines"`
	InstanceReplicas        map[string]v1beta2.InstanceProcess `json:"instanceReplicas"`
	InstanceEngineFrontends map[string]v1beta2.InstanceProcess `json:"instanceEngineFrontends"`
	Instances               map[string]v1beta2.InstanceProcess `json:"instances"`
}

// NewInstanceManager returns an instance manager as clients see it.
func NewInstanceManager(base string, m *v1beta2.InstanceManager) InstanceManager {
	return InstanceManager{Meta: wire.NewMeta(base, wire.TypeInstanceManager, m.Name), Name: m.Name, CurrentState: m.Status.CurrentState,
		Image: m.Spec.Image, NodeID: m.Spec.NodeID, ManagerType: m.Spec.Type, DataEngine: m.Spec.DataEngine,
		InstanceEngines: m.Status.InstanceEngines, InstanceReplicas: m.Status.InstanceReplicas,
		InstanceEngineFrontends: m.Status.InstanceEngineFrontends}
}

// RecurringJob is a job that runs by the clock.
type RecurringJob struct {
	wire.Meta
	Name            string            `json:"name"`
	Groups          []string          `json:"groups"`
	Task            string            `json:"task"`
	Cron            string            `json:"cron"`
	Retain          int               `json:"retain"`
	RetainAge       string            `json:"retainAge"`
	RetentionPolicy string            `json:"retentionPolicy"`
	Concurrency     int               `json:"concurrency"`
	Labels          map[string]string `json:"labels"`
	Parameters      map[string]string `json:"parameters"`
	ExecutionCount  int               `json:"executionCount"`
	OwnerID         string            `json:"ownerID"`
}

// NewRecurringJob returns a recurring job as clients see it.
func NewRecurringJob(base string, j *v1beta2.RecurringJob) RecurringJob {
	s := j.Spec
	return RecurringJob{Meta: wire.NewMeta(base, wire.TypeRecurringJob, j.Name), Name: j.Name, Groups: list(s.Groups), Task: s.Task,
		Cron: s.Cron, Retain: s.Retain, RetainAge: duration(s.RetainAge), RetentionPolicy: s.RetentionPolicy, Concurrency: s.Concurrency,
		Labels: table(s.Labels), Parameters: table(s.Parameters), ExecutionCount: j.Status.ExecutionCount, OwnerID: j.Status.OwnerID}
}

// VolumeJob is a recurring job, or a group of them, that a volume has.
type VolumeJob struct {
	wire.Meta
	Name    string `json:"name"`
	IsGroup bool   `json:"isGroup"`
}

// NewVolumeJob returns a job of a volume as clients see it.
func NewVolumeJob(base, name string, isGroup bool) VolumeJob {
	return VolumeJob{Meta: wire.NewMeta(base, wire.TypeVolumeJob, name), Name: name, IsGroup: isGroup}
}

// EngineImage is an image of v1 engines.
type EngineImage struct {
	wire.Meta
	Name              string          `json:"name"`
	Image             string          `json:"image"`
	Default           bool            `json:"default"`
	State             string          `json:"state"`
	Version           string          `json:"version"`
	RefCount          int             `json:"refCount"`
	NoRefSince        string          `json:"noRefSince"`
	Incompatible      bool            `json:"incompatible"`
	OwnerID           string          `json:"ownerID"`
	BuildDate         string          `json:"buildDate"`
	GitCommit         string          `json:"gitCommit"`
	NodeDeploymentMap map[string]bool `json:"nodeDeploymentMap"`
	Conditions        []Condition     `json:"conditions"`
	CLIAPIVersion     int             `json:"cliAPIVersion"`
	CLIAPIMinVersion  int             `json:"cliAPIMinVersion"`
}

// NewEngineImage returns an engine image as clients see it.
func NewEngineImage(base string, i *v1beta2.EngineImage, byDefault string) EngineImage {
	return EngineImage{Meta: wire.NewMeta(base, wire.TypeEngineImage, i.Name), Name: i.Name, Image: i.Spec.Image,
		Default: i.Spec.Image == byDefault, State: i.Status.State, Version: i.Status.Version, OwnerID: i.Status.OwnerID,
		NodeDeploymentMap: table(i.Status.NodeDeploymentMap), Conditions: conditionList(i.Status.Conditions),
		RefCount: i.Status.RefCount, NoRefSince: i.Status.NoRefSince, Incompatible: i.Status.Incompatible,
		BuildDate: i.Status.BuildDate, GitCommit: i.Status.GitCommit,
		CLIAPIVersion: i.Status.CLIAPIVersion, CLIAPIMinVersion: i.Status.CLIAPIMinVersion}
}

// NewDefaultEngineImage returns an entry for the default image if it has no object: pages show no engine otherwise.
func NewDefaultEngineImage(base, image string) EngineImage {
	name := v1beta2.EngineImageName(image)
	return EngineImage{Meta: wire.NewMeta(base, wire.TypeEngineImage, name), Name: name, Image: image, Default: true, State: "deployed",
		NodeDeploymentMap: map[string]bool{}, Conditions: []Condition{}}
}

// Event is an event about one of Longhorn's objects.
type Event struct {
	wire.Meta
	Event     *corev1.Event `json:"event"`
	EventType string        `json:"eventType"`
}

// NewEvent returns an event as clients see it. An event of events.k8s.io has its times and its count in other fields than the web interface
// reads, whose dashboard ends at an event without them.
func NewEvent(base string, e *corev1.Event) Event {
	shown := e.DeepCopy()
	if shown.FirstTimestamp.IsZero() {
		shown.FirstTimestamp = metav1.NewTime(shown.EventTime.Time)
	}
	if shown.FirstTimestamp.IsZero() {
		shown.FirstTimestamp = shown.CreationTimestamp
	}
	if series := shown.Series; series != nil && shown.LastTimestamp.IsZero() {
		shown.LastTimestamp, shown.Count = metav1.NewTime(series.LastObservedTime.Time), series.Count
	}
	if shown.LastTimestamp.IsZero() {
		shown.LastTimestamp = shown.FirstTimestamp
	}
	shown.Count = max(shown.Count, 1)
	return Event{Meta: wire.NewMeta(base, wire.TypeEvent, e.Name), Event: shown, EventType: e.Type}
}
