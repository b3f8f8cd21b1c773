package backuptarget

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
)

// objects answers reads of one namespace: a name that is not there is not found, and an error is what the server answers.
type objects struct {
	client.Reader
	targets map[string]v1beta2.BackupTargetSpec
	secrets map[string]map[string][]byte
	failure error
	read    []string
}

func (o *objects) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	o.read = append(o.read, key.String())
	switch x := into.(type) {
	case *v1beta2.BackupTarget:
		if spec, ok := o.targets[key.Name]; ok {
			x.Name, x.Spec = key.Name, spec
			return nil
		}
	case *corev1.Secret:
		if o.failure != nil {
			return o.failure
		}
		if data, ok := o.secrets[key.Name]; ok {
			x.Name, x.Data = key.Name, data
			return nil
		}
	}
	return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
}

func target(url, secret string) v1beta2.BackupTargetSpec {
	return v1beta2.BackupTargetSpec{BackupTargetURL: url, CredentialSecret: secret}
}

// stored has a target of CIFS with its Secret, one of S3 with half a Secret, one of NFS without, and one whose Secret is missing.
func stored() *objects {
	return &objects{
		targets: map[string]v1beta2.BackupTargetSpec{"default": target("cifs://nas/share", "nas"), "half": target("s3://b@r/", "half"),
			"open": target("nfs://nas:/backups", ""), "lost": target("cifs://nas/share", "lost"), "unset": target("", "nas"),
			"nfs": target("nfs://nas:/backups", "nas")},
		secrets: map[string]map[string][]byte{"nas": {"CIFS_USERNAME": []byte("u"), "CIFS_PASSWORD": []byte("hidden")},
			"half": {"AWS_ACCESS_KEY_ID": []byte("hidden")}},
	}
}

var nas = []string{"CIFS_USERNAME=u", "CIFS_PASSWORD=hidden"}

func TestTheCredentialsOfATargetAreThoseOfItsSecretNow(t *testing.T) {
	for _, c := range []struct {
		name    string
		want    []string
		missing string
	}{
		{"default", nas, ""},
		{"open", nil, ""},
		{"nfs", nil, ""},
		{"lost", nil, "BackupTarget lost needs the Secret lost, which does not exist in namespace longhorn-system; create it."},
		{"half", nil, "Secret half of BackupTarget half cannot be used: the key AWS_SECRET_ACCESS_KEY is missing or empty; add it."},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := stored()
			t1 := &v1beta2.BackupTarget{Spec: o.targets[c.name]}
			t1.Name = c.name
			got, err := Reader{Client: o, Namespace: "longhorn-system"}.Credentials(t.Context(), t1)
			require.Equal(t, c.want, got)
			if c.missing == "" {
				require.NoError(t, err)
				return
			}
			var missing *MissingError
			require.ErrorAs(t, err, &missing, "a person has to put it right")
			require.EqualError(t, err, c.missing)
			require.NotContains(t, err.Error(), "hidden", "no message has a credential")
		})
	}
}

func TestASecretThatCannotBeReadIsNotOneThatIsMissing(t *testing.T) {
	o := stored()
	o.failure = errors.New("the server is busy")
	t1 := &v1beta2.BackupTarget{Spec: o.targets["default"]}
	got, err := Reader{Client: o, Namespace: "longhorn-system"}.Credentials(t.Context(), t1)
	require.Nil(t, got)
	require.ErrorIs(t, err, o.failure)
	var missing *MissingError
	require.NotErrorAs(t, err, &missing, "it is read again, and no one is asked to create it")
}

func TestAVolumeIsFilledWithTheCredentialsOfTheTargetThatHasItsBackup(t *testing.T) {
	const backup = "cifs://nas/share?backup=b&volume=v"
	for _, c := range []struct {
		name         string
		label, spec  string
		from         string
		want         []string
		readsSecrets bool
	}{
		{"no target is named: the default one", "", "", backup, nas, true},
		{"the spec names another one, where the backup does not lie", "", "half", backup, nil, false},
		{"the label comes before the spec", "default", "half", backup, nas, true},
		{"the target does not exist", "", "none", backup, nil, false},
		{"the target has no URL", "", "unset", backup, nil, false},
		{"the volume is filled from no backup", "", "", "", nil, false},
		{"the backup lies in another share", "", "", "cifs://nas/other?backup=b&volume=v", nil, false},
		{"the target needs no Secret", "", "open", "nfs://nas:/backups?backup=b&volume=v", nil, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := &v1beta2.Volume{Spec: v1beta2.VolumeSpec{BackupTargetName: c.spec, FromBackup: c.from}}
			if c.label != "" {
				v.Labels = map[string]string{v1beta2.LabelBackupTarget: c.label}
			}
			o := stored()
			got, err := Reader{Client: o, Namespace: "longhorn-system"}.OfRestore(t.Context(), v)
			require.NoError(t, err)
			require.Equal(t, c.want, got)
			require.Equal(t, c.readsSecrets, len(o.read) == 2, "a Secret is read only where it is used: %v", o.read)
		})
	}
	o := stored()
	_, err := Reader{Client: o, Namespace: "longhorn-system"}.OfRestore(t.Context(),
		&v1beta2.Volume{Spec: v1beta2.VolumeSpec{BackupTargetName: "lost", FromBackup: backup}})
	var missing *MissingError
	require.ErrorAs(t, err, &missing)
}

func TestEachKindOfTargetNeedsEachOfItsKeys(t *testing.T) {
	for scheme, keys := range needed {
		whole := map[string][]byte{}
		for _, key := range keys {
			whole[key] = []byte("x")
		}
		_, err := Envs(scheme+"://somewhere", whole)
		require.NoError(t, err)
		for _, key := range keys {
			for name, value := range map[string][]byte{"missing": nil, "empty": {}} {
				part := map[string][]byte{}
				for other := range whole {
					part[other] = whole[other]
				}
				if part[key] = value; name == "missing" {
					delete(part, key)
				}
				got, err := Envs(scheme+"://somewhere", part)
				require.ErrorContains(t, err, key, name)
				require.Nil(t, got)
			}
		}
	}
}
