package enginepoll

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	testingclock "k8s.io/utils/clock/testing"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/im-monitor/internal/backup"
	"drover.dev/drover/im-monitor/internal/execute"
	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/kube"
	"drover.dev/drover/shared/runkit"
)

// backupServer is an API server that has an Engine, its Volume, a Backup and its target, and is slow while slow is set. It counts writes to
// the Backup.
type backupServer struct {
	client.Client
	scheme *runtime.Scheme
	clock  *testingclock.FakeClock
	slow   int
	engine *v1beta2.Engine
	backup v1beta2.Backup
	writes int
	// volume is the Volume, image its BackingImage, cli the CLI API version of its EngineImage; 0 is no EngineImage.
	volume v1beta2.Volume
	image  v1beta2.BackingImage
	cli    int
	// other is another engine of the volume; nil is none.
	other *v1beta2.Engine
}

func (s *backupServer) Scheme() *runtime.Scheme { return s.scheme }

func (s *backupServer) Get(_ context.Context, key client.ObjectKey, into client.Object, _ ...client.GetOption) error {
	switch o := into.(type) {
	case *v1beta2.Engine:
		if s.other != nil && key.Name == s.other.Name {
			s.other.DeepCopyInto(o)
			return nil
		}
		s.engine.DeepCopyInto(o)
	case *v1beta2.Volume:
		if s.slow--; s.slow >= 0 {
			s.clock.Step(execute.ReadToCall + time.Second)
		}
		s.volume.DeepCopyInto(o)
		o.ObjectMeta = metav1.ObjectMeta{Name: "vol", UID: "vol-uid"}
	case *v1beta2.BackingImage:
		s.image.DeepCopyInto(o)
	case *v1beta2.EngineImage:
		if o.Status.CLIAPIVersion = s.cli; s.cli == 0 {
			return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
		}
	case *v1beta2.Backup:
		s.backup.DeepCopyInto(o)
	case *v1beta2.BackupTarget:
		o.Name, o.Spec.BackupTargetURL = key.Name, "nfs://server/path"
	default:
		return apierrors.NewNotFound(schema.GroupResource{}, key.Name)
	}
	return nil
}

func (s *backupServer) List(_ context.Context, list client.ObjectList, _ ...client.ListOption) error {
	if engines, ok := list.(*v1beta2.EngineList); ok && s.other != nil {
		engines.Items = []v1beta2.Engine{*s.other}
	}
	return nil
}

func (s *backupServer) Status() client.SubResourceWriter { return patcher{to: s} }

type patcher struct {
	client.SubResourceWriter
	to *backupServer
}

func (p patcher) Patch(_ context.Context, obj client.Object, patch client.Patch, _ ...client.SubResourcePatchOption) error {
	body, err := patch.Data(obj)
	if err != nil {
		return err
	}
	p.to.writes++
	err = json.Unmarshal(body, &p.to.backup)
	p.to.backup.ResourceVersion = "written"
	return err
}

// newRequest is a try to request a Backup from an engine that no one reaches, at a server that is slow for the first reads.
func newRequest(t *testing.T, slow int) (*request, *backupServer) {
	t.Helper()
	owner := []metav1.OwnerReference{{APIVersion: v1beta2.GroupVersion.String(), Kind: "Volume", Name: "vol", UID: "vol-uid"}}
	s := &backupServer{scheme: runtime.NewScheme(), slow: slow, clock: testingclock.NewFakeClock(time.Date(2026, 8, 1, 12, 0, 0, 7, time.UTC))}
	require.NoError(t, v1beta2.AddToScheme(s.scheme))
	s.backup.ObjectMeta = metav1.ObjectMeta{Namespace: "ns", Name: "backup-1", UID: "b", ResourceVersion: "1"}
	s.backup.Status.Conditions = conditions.Set(nil, v1beta2.Condition{Type: v1beta2.BackupApproved, Status: v1beta2.ConditionTrue,
		Reason: v1beta2.ReasonReady}, s.clock.Now())
	s.engine = runningEngine(owner)
	unreachable := func(context.Context, string) (net.Conn, error) { return nil, errors.New("no route to host") }
	c := &Controller{rt: &runkit.Runtime{Client: s, Uncached: s, Namespace: "ns", Clock: s.clock, Log: logr.Discard()},
		mapper: kube.Mapper{Reader: s}, guard: execute.Guard{Clock: s.clock}, options: Options{Busy: time.Second},
		pool: pool{connect: imclient.NewDialer(imclient.Options{Dial: unreachable}).Proxy}}
	return &request{poll: &poll{Controller: c, facts: facts{engine: s.engine, run: "run-1"},
		session: session{direct: way{manager: "10.0.0.1"}}}, evaluated: backup.Backup{Name: "backup-1", Version: "1"}}, s
}

// A check that was too slow is repeated; what this try itself wrote ahead in between does not stop it, and is written once.
func TestASlowCheckAfterTheWriteAheadIsRepeated(t *testing.T) {
	r, s := newRequest(t, 1)
	sent := 0
	out, err := r.guard.Do(t.Context(), execute.Call{Check: r.check, Ahead: r.ahead,
		Send: func(context.Context, imclient.Client) error { sent++; return nil }})
	require.NoError(t, err)
	require.Empty(t, out.Stop)
	require.Equal(t, execute.Accepted, out.Outcome)
	require.Equal(t, []int{1, 1}, []int{sent, s.writes})
}

func TestNoBackupIsRequestedBesideAnotherEngine(t *testing.T) {
	r, s := newRequest(t, 0)
	s.other = &engineOf("vol-e-1", v1beta2.InstanceStateRunning)[0]
	checked, err := r.check(t.Context(), execute.Reading{})
	require.NoError(t, err)
	require.Equal(t, "another engine of volume vol is to run", checked.Stop.Message)
}

func TestABackupOfAnEncryptedVolumeIsMarkedWhereItsDataContainsTheHeader(t *testing.T) {
	for cli, want := range map[int]string{11: "", 12: "enabled"} {
		r, s := newRequest(t, 0)
		s.volume.Spec.Encrypted, s.engine.Spec.Image, s.cli = true, "image:1", cli
		require.NoError(t, r.read(t.Context()))
		require.Equal(t, want, orderOf(r.order).Labels["volume-encrypted"])
	}
	r, s := newRequest(t, 0)
	s.volume.Spec.Encrypted, s.engine.Spec.Image = true, "image:1"
	require.ErrorContains(t, r.read(t.Context()), "is unknown: EngineImage", "it is not requested without the mark")
}

func TestABackupOfAV1VolumeNamesItsBackingImage(t *testing.T) {
	for engine, want := range map[string][]string{v1beta2.DataEngineV1: {"base", "sum"}, v1beta2.DataEngineV2: {"", ""}} {
		r, s := newRequest(t, 0)
		s.volume.Spec.BackingImage, s.image.Status.Checksum, s.engine.Spec.DataEngine = "base", "sum", engine
		require.NoError(t, r.read(t.Context()))
		order := orderOf(r.order)
		require.Equal(t, want, []string{order.BackingImage, order.BackingImageChecksum})
		require.NoError(t, r.note(t.Context(), s.clock.Now()))
		require.Equal(t, want[0], s.backup.Status.VolumeBackingImageName)
	}
}

// The poll after a request comes once the cache shows what was written, and over another connection where no one answered.
func TestTheCacheShowsTheRequestBeforeTheNextPoll(t *testing.T) {
	r, s := newRequest(t, 0)
	next, err := r.beginBackup(t.Context(), r.evaluated)
	require.NoError(t, err)
	require.Equal(t, 1, s.writes)
	require.Equal(t, conflictPause, next)
	require.Empty(t, r.pool.open)
}
