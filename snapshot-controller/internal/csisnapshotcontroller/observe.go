package csisnapshotcontroller

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/lookup"
	"drover.dev/drover/shared/runkit"
	"drover.dev/drover/shared/volumesnapshot"
	"drover.dev/drover/snapshot-controller/internal/csisnapshot"
	"drover.dev/drover/snapshot-controller/internal/volumecontext"
)

// observer fills the core's World. It only reads.
type observer struct{ rt *runkit.Runtime }

// seen is a World and the content that it was taken from, which the writes are bound to.
type seen struct {
	world   csisnapshot.World
	content *volumesnapshot.Content
}

// evaluated is what a step changes, as it was evaluated; what a step makes was evaluated to be absent.
func (s *seen) evaluated(step csisnapshot.Step) client.Object {
	switch step {
	case csisnapshot.StepCreateSnapshot:
		_, name, _ := s.world.Content.Names()
		return &v1beta2.Snapshot{ObjectMeta: metav1.ObjectMeta{Name: name}}
	case csisnapshot.StepCreateBackup:
		_, _, name := s.world.Content.Names()
		return &v1beta2.Backup{ObjectMeta: metav1.ObjectMeta{Name: name}}
	case csisnapshot.StepDeleteSnapshot:
		return s.world.Snapshot
	case csisnapshot.StepDeleteBackup:
		return s.world.Backup
	}
	return s.content
}

// observe reads the world of one content; nil: it is gone. With live, the content and what is behind it are read from the
// API server itself.
func (o observer) observe(ctx context.Context, name string, live bool) (*seen, error) {
	decisive := client.Reader(o.rt.Client)
	if live {
		decisive = o.rt.Uncached
	}
	content, err := lookup.Get(ctx, decisive, "", name, &volumesnapshot.Content{})
	if content == nil || err != nil {
		return nil, err
	}
	s := &seen{content: content}
	s.world.Now, s.world.Content = o.rt.Clock.Now(), csisnapshot.FromContent(content)
	for _, read := range []func(context.Context, client.Reader, *csisnapshot.World) error{o.readSource, o.readTarget, o.readClones} {
		if err := read(ctx, decisive, &s.world); err != nil {
			return nil, fmt.Errorf("reading the world of VolumeSnapshotContent %s: %w", name, err)
		}
	}
	return s, nil
}

// readSource reads what the snapshot is taken of, and how.
func (o observer) readSource(ctx context.Context, _ client.Reader, w *csisnapshot.World) error {
	class, err := lookup.Get(ctx, o.rt.Client, "", w.Content.ClassName, &volumesnapshot.Class{})
	if err != nil {
		return err
	}
	if class != nil {
		facts := csisnapshot.FromClass(class)
		w.Class = &facts
	}
	volume, _, _ := w.Content.Names()
	w.Volume, err = lookup.Get(ctx, o.rt.Client, o.rt.Namespace, volume, &v1beta2.Volume{})
	return err
}

// readTarget reads what is behind the content.
func (o observer) readTarget(ctx context.Context, decisive client.Reader, w *csisnapshot.World) (err error) {
	_, snapshot, backup := w.Content.Names()
	if w.Snapshot, err = lookup.Get(ctx, decisive, o.rt.Namespace, snapshot, &v1beta2.Snapshot{}); err != nil {
		return err
	}
	w.Backup, err = lookup.Get(ctx, decisive, o.rt.Namespace, backup, &v1beta2.Backup{})
	return err
}

func (o observer) readClones(ctx context.Context, _ client.Reader, w *csisnapshot.World) (err error) {
	volume, snapshot, _ := w.Content.Names()
	if snapshot == "" {
		return nil
	}
	w.Clones, err = volumecontext.Reader{Client: o.rt.Client, Namespace: o.rt.Namespace}.Clones(ctx, volume, snapshot)
	return err
}
