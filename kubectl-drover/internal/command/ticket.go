package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"drover.dev/drover/kubectl-drover/internal/attachment"
	"drover.dev/drover/kubectl-drover/internal/cluster"
	"drover.dev/drover/kubectl-drover/internal/terminal"
	"drover.dev/drover/kubectl-drover/internal/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// writeTries is how often a write is decided again after its object changed meanwhile.
const writeTries = 5

// ticketReads are the reads about who wants a volume.
func ticketReads(volume string) []cluster.Read {
	return []cluster.Read{cluster.Volumes.Named(volume), cluster.Attachments.Named(volume),
		cluster.PersistentVolumes.Named(volume).Otherwise("the pods that want the volume are not named")}
}

// ticketRights are those of a command that writes tickets and may wait for the answer.
func ticketRights(more ...cluster.Read) []cluster.Right {
	pods := cluster.PodsEverywhere.Otherwise("the pods that want the volume are not named")
	rights := append([]cluster.Right{cluster.PatchTickets}, rightsOf(append(ticketReads(""), append(more, pods)...)...)...)
	for _, right := range cluster.Watching(cluster.Attachments) {
		right.Without = "`--wait` fails"
		rights = append(rights, right)
	}
	return rights
}

// ticketWriter writes tickets of one volume, whose name is complete.
type ticketWriter struct {
	*Frame
	client *cluster.Client
	volume string
}

// ticketWriter checks the volume's name.
func (f *Frame) ticketWriter(ctx context.Context, given string) (*ticketWriter, error) {
	client, err := f.connect(ctx)
	if err != nil {
		return nil, err
	}
	name, err := lookupComplete(ctx, client, "Volume", given, cluster.Volumes.Right)
	return &ticketWriter{Frame: f, client: client, volume: name}, err
}

func (t *ticketWriter) observe(ctx context.Context) (*world.World, error) {
	w := t.client.World()
	return w, t.read(ctx, t.client, w, ticketReads(t.volume)...)
}

// apply decides by what is stored and writes that, again where the VolumeAttachment changed meanwhile.
func (t *ticketWriter) apply(ctx context.Context, decide func(*world.World) (attachment.Change, error)) (attachment.Change, error) {
	for try := 1; ; try++ {
		w, err := t.observe(ctx)
		if err != nil {
			return nil, err
		}
		change, err := decide(w)
		if err != nil || len(change) == 0 {
			return change, err
		}
		err = t.client.PatchSpec(ctx, &w.Attachments.Items[0], cluster.PatchTickets, change.Patch())
		if err == nil || !cluster.IsChanged(err) || try == writeTries {
			return change, err
		}
	}
}

// report returns what is stored now, with the pods that want the volume by name.
func (t *ticketWriter) report(ctx context.Context, of func(*world.World) attachment.Report) (attachment.Report, error) {
	w, err := t.observe(ctx)
	if err == nil {
		_, err = attachment.Of(w, t.volume)
	}
	if err == nil {
		err = t.read(ctx, t.client, w, podsOfVolume(w)...)
	}
	if err != nil {
		return attachment.Report{}, err
	}
	report := of(w)
	return report, report.Err()
}

// errNotDone is the end of a wait whose time is over.
var errNotDone = errors.New("not done")

// wait follows the VolumeAttachment until the report is done; errNotDone: it was not in time.
func (t *ticketWriter) wait(ctx context.Context, timeout time.Duration, of func(*world.World) attachment.Report) error {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	last := ""
	err := t.client.Follow(ctx, []cluster.Read{cluster.Attachments.Named(t.volume)}, func(w *world.World) (bool, error) {
		if len(w.Attachments.Items) == 0 {
			return true, fmt.Errorf("volume %s was deleted while its ticket waited", t.volume)
		}
		report := of(w)
		if report.Message != "" && report.Message != last {
			last = report.Message
			t.progress("%s", last)
		}
		return report.Done, report.Err()
	}, func(err error) { t.progress("%v: trying again", err) })
	if w := t.client.World(); errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("volume %s: %w after %s: %s; see: %s", t.volume, errNotDone, timeout,
			cmp.Or(strings.TrimSuffix(last, "."), "attach-controller has not answered, see that it runs with: "+
				w.Suggest("kubectl -n {ns} get lease drover-attach-controller", nil)),
			w.Suggest("kubectl drover why {volume} -n {ns}", world.Values{"volume": t.volume}))
	}
	return err
}

// progress writes a line for people to ErrOut.
func (f *Frame) progress(format string, args ...any) {
	_, _ = fmt.Fprintln(f.Streams.ErrOut, terminal.Clean(fmt.Sprintf(format, args...)))
}

// personsTickets returns the ids of tickets of people, for completion.
func personsTickets(a *v1beta2.VolumeAttachment) []string {
	var ids []string
	for id, ticket := range a.Spec.AttachmentTickets {
		if ticket.Type == v1beta2.AttacherLonghornAPI {
			ids = append(ids, id)
		}
	}
	return ids
}
