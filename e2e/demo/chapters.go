package main

import (
	"context"
	"fmt"
	"time"

	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// The cast.
const (
	cut, spare, helper = "node-1", "node-2", "node-3"
	grace              = 5 * time.Second
	patience           = 60 * time.Second
)

var nodes = []string{cut, spare, helper}

type demo struct {
	story *story
	world *world.World

	v1, v2, archive *world.Volume
	stale           []world.Stale
	byHand          world.Stale
}

func (d *demo) tell(ctx context.Context) error {
	for _, chapter := range []func(context.Context) error{d.volumes, d.outage, d.orphans, d.deletion, d.forgery, d.automation, d.untouched} {
		if err := chapter(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (d *demo) volumes(ctx context.Context) (err error) {
	s, w := d.story, d.world
	s.chapter("Volumes run")
	if err := s.step(ctx, "v1 volume db runs on "+cut, func(ctx context.Context) (string, error) {
		d.v1, err = w.CreateVolume(ctx, "db", v1beta2.DataEngineV1, cut, cut, spare)
		return "replicas on " + cut + " and " + spare, err
	}); err != nil {
		return err
	}
	if err := s.step(ctx, "v2 volume cache runs on "+cut, func(ctx context.Context) (string, error) {
		d.v2, err = w.CreateVolume(ctx, "cache", v1beta2.DataEngineV2, cut, cut, spare)
		return "replicas on " + cut + " and " + spare, err
	}); err != nil {
		return err
	}
	if err := s.step(ctx, "v2 volume archive is detached", func(ctx context.Context) (string, error) {
		d.archive, err = w.CreateVolume(ctx, "archive", v1beta2.DataEngineV2, "", cut, spare)
		return "SPDK lists its data as stopped replicas: user data, no orphans", err
	}); err != nil {
		return err
	}
	return s.step(ctx, "nothing is an orphan", func(ctx context.Context) (string, error) {
		return "", w.Never(ctx, "an orphan", 2*time.Second, w.NoOrphans)
	})
}

func (d *demo) outage(ctx context.Context) error {
	s, w := d.story, d.world
	s.chapter("A node is cut off, and comes back")
	if err := s.step(ctx, cut+" is cut off", func(ctx context.Context) (string, error) {
		if err := w.CutNode(ctx, cut); err != nil {
			return "", err
		}
		return "its instances go on running, unseen", w.WaitNode(ctx, cut, v1beta2.ConditionFalse, patience)
	}); err != nil {
		return err
	}
	for _, v := range []*world.Volume{d.v1, d.v2} {
		if err := s.step(ctx, "volume "+v.Name+" moves to "+helper, func(ctx context.Context) (string, error) {
			stale, err := w.Stale(ctx, v, cut)
			if err != nil {
				return "", err
			}
			d.stale = append(d.stale, stale...)
			return "a new replica there, the one on " + cut + " is given up", w.Move(ctx, v, cut, helper)
		}); err != nil {
			return err
		}
	}
	return s.step(ctx, cut+" comes back", func(ctx context.Context) (string, error) {
		if err := w.JoinNode(ctx, cut); err != nil {
			return "", err
		}
		return fmt.Sprintf("with %d stale instances", len(d.stale)), w.WaitNode(ctx, cut, v1beta2.ConditionTrue, patience)
	})
}

func (d *demo) orphans(ctx context.Context) error {
	s, w := d.story, d.world
	s.chapter("The stale instances are found and explained")
	for _, stale := range d.stale {
		if err := s.step(ctx, "orphan of "+stale.Name, func(ctx context.Context) (string, error) {
			orphan, err := w.WaitOrphan(ctx, stale, patience)
			if err != nil {
				return "", err
			}
			return conditions.Reason(orphan.Status.Conditions, v1beta2.OrphanOrphaned), nil
		}); err != nil {
			return err
		}
	}
	table, err := w.Table(ctx, "orphans")
	if err != nil {
		return err
	}
	s.show("kubectl -n "+w.Namespace+" get lho", table)
	return s.step(ctx, "exactly these are orphans", func(ctx context.Context) (string, error) {
		return "", w.OrphansAre(ctx, d.stale)
	})
}

func (d *demo) deletion(ctx context.Context) error {
	s, w := d.story, d.world
	s.chapter("One is deleted by hand")
	d.byHand, d.stale = d.stale[0], d.stale[1:]
	if err := s.step(ctx, "kubectl delete lho, the one of "+d.byHand.Name, func(ctx context.Context) (string, error) {
		return "", w.DeleteOrphan(ctx, d.byHand.Orphan())
	}); err != nil {
		return err
	}
	if err := s.step(ctx, "it is carried out, seen and ended", func(ctx context.Context) (string, error) {
		if err := w.WaitOrphanGone(ctx, d.byHand.Orphan(), patience); err != nil {
			return "", err
		}
		return "absence was proven before the object went", w.Gone(ctx, d.byHand)
	}); err != nil {
		return err
	}
	return s.step(ctx, d.byHand.Name+" on "+helper+" still runs", func(ctx context.Context) (string, error) {
		return "the same name on another node is another instance", w.Runs(ctx, w.InstanceManager(helper, d.v1.DataEngine), d.byHand.Name)
	})
}

func (d *demo) forgery(ctx context.Context) error {
	s, w := d.story, d.world
	s.chapter("A forged UUID is refused")
	target := d.stale[0]
	forged := target
	forged.UUID = "00000000-dead-4bad-8bad-000000000000"
	name := forged.Orphan()
	if err := s.step(ctx, "someone makes an orphan for "+target.Name+" with a UUID of their own, and deletes it", func(ctx context.Context) (string, error) {
		if err := w.Admin.Create(ctx, forged.Object(w.Namespace)); err != nil {
			return "", fmt.Errorf("creating the forged orphan: %w", err)
		}
		return "UUID " + forged.UUID, w.DeleteOrphan(ctx, name)
	}); err != nil {
		return err
	}
	return s.step(ctx, "it ends without a call", func(ctx context.Context) (string, error) {
		if err := w.WaitOrphanGone(ctx, name, patience); err != nil {
			return "", err
		}
		return target.Name + " was not touched", w.Runs(ctx, target.InstanceManager, target.Name)
	})
}

func (d *demo) automation(ctx context.Context) error {
	s, w := d.story, d.world
	s.chapter("Auto deletion takes the rest")
	if err := s.step(ctx, fmt.Sprintf("auto deletion is switched on, with a grace of %s", grace), func(ctx context.Context) (string, error) {
		if err := w.Set(ctx, "orphan-resource-auto-deletion-grace-period", fmt.Sprint(int(grace.Seconds()))); err != nil {
			return "", err
		}
		return "orphan-resource-auto-deletion = instance", w.Set(ctx, "orphan-resource-auto-deletion", "instance")
	}); err != nil {
		return err
	}
	for _, stale := range d.stale {
		if err := s.step(ctx, stale.Name+" is cleaned up", func(ctx context.Context) (string, error) {
			if err := w.WaitOrphanGone(ctx, stale.Orphan(), patience); err != nil {
				return "", err
			}
			return "on " + stale.Node, w.Gone(ctx, stale)
		}); err != nil {
			return err
		}
	}
	return nil
}

func (d *demo) untouched(ctx context.Context) error {
	s, w := d.story, d.world
	s.chapter("What is claimed was never touched")
	for _, v := range []*world.Volume{d.v1, d.v2} {
		if err := s.step(ctx, "volume "+v.Name+" runs on "+helper, func(ctx context.Context) (string, error) {
			return "engine and every replica", w.Whole(ctx, v)
		}); err != nil {
			return err
		}
	}
	if err := s.step(ctx, "the data of archive is there", func(ctx context.Context) (string, error) {
		return "", w.Whole(ctx, d.archive)
	}); err != nil {
		return err
	}
	table, err := w.Table(ctx, "orphans")
	if err != nil {
		return err
	}
	s.show("kubectl -n "+w.Namespace+" get lho", table)
	return s.step(ctx, "the simulator's journal has exactly the deletions that were shown", func(ctx context.Context) (string, error) {
		return d.journal(ctx)
	})
}

func (d *demo) journal(ctx context.Context) (string, error) {
	deletions, err := d.world.Deletions(ctx)
	if err != nil {
		return "", err
	}
	wanted := len(d.stale) + 1
	for _, deletion := range deletions {
		if deletion.UUIDAsked == "" || deletion.UUIDAsked != deletion.UUIDFound {
			return "", fmt.Errorf("a deletion of %s asked for UUID %q and met %q", deletion.Name, deletion.UUIDAsked, deletion.UUIDFound)
		}
	}
	if len(deletions) != wanted {
		return "", fmt.Errorf("%d deletions were executed, %d were shown", len(deletions), wanted)
	}
	return fmt.Sprintf("%d, each with the UUID that was judged", wanted), nil
}

// keep stays up until Ctrl-C.
func (d *demo) keep(ctx context.Context) error {
	w := d.world
	kubeconfig, err := w.AdminKubeconfig()
	if err != nil {
		return err
	}
	fmt.Printf(`
Everything stays up until Ctrl-C. In another terminal:

  export KUBECONFIG=%s
  kubectl -n %s get lho,lhim,lhe,lhr,lhv
  kubectl -n %s patch setting.longhorn.io orphan-resource-auto-deletion --type=merge -p '{"value":""}'
  kubectl -n %s patch engine db-e-0 --type=merge -p '{"metadata":{"finalizers":null}}' && kubectl -n %s delete engine db-e-0
  kubectl -n %s get lho -w
  SIMULATOR_CONTROL=%s go run ./im-monitor/simulator ctl instances

Logs: %s/*.log
`, kubeconfig, w.Namespace, w.Namespace, w.Namespace, w.Namespace, w.Namespace, w.Control(), w.Dir)
	<-ctx.Done()
	return nil
}
