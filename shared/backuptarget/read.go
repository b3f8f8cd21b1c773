package backuptarget

import (
	"cmp"
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
)

// Reader reads targets and their Secrets. Its client reads from the API server itself: the Secret that counts is the one of now, and
// none is kept.
type Reader struct {
	Client    client.Reader
	Namespace string
}

// Credentials are those of a target; nil: it names no Secret, or its kind takes none.
func (r Reader) Credentials(ctx context.Context, t *v1beta2.BackupTarget) ([]string, error) {
	name := t.Spec.CredentialSecret
	if name == "" {
		return nil, nil
	}
	s, err := lookup.Get(ctx, r.Client, r.Namespace, name, &corev1.Secret{})
	if err != nil {
		return nil, err
	}
	if s == nil {
		return nil, &MissingError{fmt.Sprintf("BackupTarget %s needs the Secret %s, which does not exist in namespace %s; create it.",
			t.Name, name, r.Namespace)}
	}
	envs, err := Envs(t.Spec.BackupTargetURL, s.Data)
	if err != nil {
		return nil, &MissingError{fmt.Sprintf("Secret %s of BackupTarget %s cannot be used: %v; add it.", name, t.Name, err)}
	}
	return envs, nil
}

// MissingError reports what a person has to put right before a target can be reached, as a sentence.
type MissingError struct{ sentence string }

func (e *MissingError) Error() string { return e.sentence }

// OfRestore are the credentials for the backup that a volume is filled from: those of the volume's target, where the backup lies in
// that. nil: it lies elsewhere, or none are needed.
func (r Reader) OfRestore(ctx context.Context, v *v1beta2.Volume) ([]string, error) {
	name := cmp.Or(v.Labels[v1beta2.LabelBackupTarget], v.Spec.BackupTargetName, v1beta2.BackupTargetDefault)
	t, err := lookup.Get(ctx, r.Client, r.Namespace, name, &v1beta2.BackupTarget{})
	if err != nil || t == nil || !v1beta2.LiesInTarget(v.Spec.FromBackup, t.Spec.BackupTargetURL) {
		return nil, err
	}
	return r.Credentials(ctx, t)
}
