package backuptargetcontroller

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/snapshot-controller/internal/backuplist"
	"drover.dev/drover/snapshot-controller/internal/enginecommand"
)

// errMoved is that the target is not any more what the reading began with.
var errMoved = errors.New("the backup target was changed while it was read")

// errEmpty is that a target that had volumes lists none.
var errEmpty = errors.New("empty answer")

// pass is one reading of a target.
type pass struct {
	*reconciler
	target *v1beta2.BackupTarget
	store  enginecommand.Store
	// all is whether volumes are read that did not change; began is when the reading did.
	all   bool
	began time.Time
	// volumes and backups are those that described the target before the reading began, by the volume's name in the target.
	volumes map[string]*v1beta2.BackupVolume
	backups map[string][]*v1beta2.Backup

	mutex sync.Mutex
	// seen is how many volumes the target has; problems are what could not be read, elsewhere the objects of another URL.
	seen, elsewhere int
	problems        []string
}

func (r *reconciler) newPass(ctx context.Context, t *v1beta2.BackupTarget, all bool, began time.Time) (*pass, error) {
	store, err := r.stores.Of(ctx, t)
	if err != nil {
		return nil, err
	}
	volumes, backups, err := r.known(ctx, t.Name)
	if err != nil {
		return nil, err
	}
	p := &pass{reconciler: r, target: t, store: store, all: all, began: began, volumes: map[string]*v1beta2.BackupVolume{},
		backups: map[string][]*v1beta2.Backup{}}
	for _, v := range volumes {
		if held := p.volumes[backuplist.VolumeOf(v)]; held == nil || v.Name < held.Name {
			p.volumes[backuplist.VolumeOf(v)] = v
		}
	}
	for _, b := range backups {
		p.backups[b.Status.VolumeName] = append(p.backups[b.Status.VolumeName], b)
	}
	return p, nil
}

// known returns the objects of a target.
func (r *reconciler) known(ctx context.Context, target string) (volumes []*v1beta2.BackupVolume, backups []*v1beta2.Backup, err error) {
	var ofVolumes v1beta2.BackupVolumeList
	if err := lookup.ListShared(ctx, r.rt.Client, r.rt.Namespace, &ofVolumes, client.MatchingFields{volumesByTarget: target}); err != nil {
		return nil, nil, err
	}
	var ofBackups v1beta2.BackupList
	if err := lookup.ListShared(ctx, r.rt.Client, r.rt.Namespace, &ofBackups, client.MatchingFields{backupsByTarget: target}); err != nil {
		return nil, nil, err
	}
	for i := range ofVolumes.Items {
		volumes = append(volumes, &ofVolumes.Items[i])
	}
	for i := range ofBackups.Items {
		backups = append(backups, &ofBackups.Items[i])
	}
	return volumes, backups, nil
}

// run reads the target.
func (p *pass) run(ctx context.Context) error {
	listed, err := p.store.Volumes(ctx)
	if err != nil {
		return err
	}
	if err := p.refuseEmpty(listed); err != nil {
		return err
	}
	p.seen = len(listed)
	group, within := errgroup.WithContext(ctx)
	group.SetLimit(p.stores.AtOnce())
	for _, volume := range slices.Sorted(maps.Keys(listed)) {
		group.Go(func() error { return p.readVolume(within, volume, listed[volume]) })
	}
	if err := group.Wait(); err != nil {
		return err
	}
	for _, volume := range slices.Sorted(maps.Keys(p.volumes)) {
		v := p.volumes[volume]
		if _, found := listed[volume]; found || v.DeletionTimestamp != nil {
			continue
		}
		if err := p.missesVolume(ctx, volume, v); err != nil {
			return err
		}
	}
	return nil
}

// refuseEmpty does not believe a target that had volumes and lists none: engines answer so for a directory that they may not read, or for
// a file system that is not mounted.
func (p *pass) refuseEmpty(listed map[string]string) error {
	if len(listed) > 0 {
		return nil
	}
	known := 0
	for _, v := range p.volumes {
		if backuplist.IsOfTarget(v, p.target.Spec.BackupTargetURL) {
			known++
		}
	}
	if known == 0 {
		return nil
	}
	return &enginecommand.Failure{Kind: errEmpty, Text: fmt.Sprintf("%s lists no volume, and had %d: it may be another place, not mounted, "+
		"or not readable with these credentials. The BackupVolumes stay. If it is right that nothing is there, delete them with the label %s.",
		p.target.Spec.BackupTargetURL, known, v1beta2.LabelObjectOnly)}
}

// tolerate decides whether the reading goes on after a failure about one volume or backup: what the target refuses or answers
// unreadably is noted; silence ends the reading, since each further question would cost the same time.
func (p *pass) tolerate(of string, err error) error {
	failure := new(enginecommand.Failure)
	if !errors.As(err, &failure) || errors.Is(err, enginecommand.ErrTimeout) || errors.Is(err, enginecommand.ErrNoBinary) {
		return err
	}
	p.mutex.Lock()
	defer p.mutex.Unlock()
	p.problems = append(p.problems, of+": "+failure.Text)
	return nil
}

// isSame returns errMoved unless the target is still what the reading began with.
func (p *pass) isSame(ctx context.Context) error {
	live := &v1beta2.BackupTarget{}
	err := p.rt.Uncached.Get(ctx, client.ObjectKeyFromObject(p.target), live)
	if client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("reading BackupTarget %s: %w", p.target.Name, err)
	}
	if err != nil || live.UID != p.target.UID || live.DeletionTimestamp != nil || live.Spec.BackupTargetURL != p.target.Spec.BackupTargetURL ||
		live.Spec.CredentialSecret != p.target.Spec.CredentialSecret {
		return errMoved
	}
	return nil
}

// summary returns reason and message of a reading that came to its end.
func (p *pass) summary() (reason, message string) {
	message = fmt.Sprintf("%d volumes are in it, and are shown as BackupVolumes.", p.seen)
	if p.elsewhere > 0 {
		message += fmt.Sprintf(" %d BackupVolumes are of an earlier URL and stay until somebody deletes them; nothing is removed at that URL.",
			p.elsewhere)
	}
	if len(p.problems) == 0 {
		return v1beta2.ReasonListed, message
	}
	first := slices.MinFunc(p.problems, cmp.Compare[string])
	return v1beta2.ReasonListedInPart, message + fmt.Sprintf(" %d volumes or backups could not be read, such as %s. They are tried again "+
		"with each reading; see that their files are whole.", len(p.problems), first)
}
