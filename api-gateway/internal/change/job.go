package change

import (
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
)

// JobInput is a client's input to create or change a recurring job.
type JobInput struct {
	Name            string            `json:"name"`
	Groups          []string          `json:"groups"`
	Task            string            `json:"task"`
	Cron            string            `json:"cron"`
	Retain          Count             `json:"retain"`
	RetainAge       string            `json:"retainAge"`
	RetentionPolicy string            `json:"retentionPolicy"`
	Concurrency     Count             `json:"concurrency"`
	Labels          map[string]string `json:"labels"`
	Parameters      map[string]string `json:"parameters"`
}

// NewRecurringJob returns the recurring job to create.
func NewRecurringJob(namespace string, in JobInput) (*v1beta2.RecurringJob, error) {
	if in.Name == "" || len(in.Name) > maxName {
		return nil, fmt.Errorf("name %q of a recurring job must have 1 to %d characters", in.Name, maxName)
	}
	return &v1beta2.RecurringJob{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: in.Name}, Spec: v1beta2.RecurringJobSpec{
		Name: in.Name, Groups: in.Groups, Task: in.Task, Cron: in.Cron, Retain: max(1, int(in.Retain)), RetainAge: in.RetainAge,
		RetentionPolicy: in.RetentionPolicy, Concurrency: max(1, int(in.Concurrency)), Labels: in.Labels, Parameters: in.Parameters}}, nil
}

// JobFields returns the fields of a recurring job that a client changes: all but its name and task.
func JobFields(in JobInput) map[string]any {
	return map[string]any{"groups": in.Groups, "cron": in.Cron, "retain": max(1, int(in.Retain)), "retainAge": orNull(in.RetainAge),
		"retentionPolicy": orNull(in.RetentionPolicy), "concurrency": max(1, int(in.Concurrency)), "labels": in.Labels,
		"parameters": in.Parameters}
}

// TargetInput is a client's input to create or change a backup target.
type TargetInput struct {
	Name             string   `json:"name"`
	BackupTargetURL  string   `json:"backupTargetURL"`
	CredentialSecret string   `json:"credentialSecret"`
	PollInterval     Quantity `json:"pollInterval"`
}

// Spec returns the spec of the backup target. Clients give the interval in seconds.
func (in TargetInput) Spec() v1beta2.BackupTargetSpec {
	interval := string(in.PollInterval)
	if seconds, err := in.PollInterval.Bytes(); err == nil && interval != "" {
		interval = (time.Duration(seconds) * time.Second).String()
	}
	return v1beta2.BackupTargetSpec{BackupTargetURL: in.BackupTargetURL, CredentialSecret: in.CredentialSecret, PollInterval: interval}
}
