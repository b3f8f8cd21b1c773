package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// The volumes that are written to while the data engine under them is replaced, and one that blocks an upgrade.
const (
	orders, mail, scratch = "orders", "mail", "scratch"
	writeEvery            = 5 * time.Millisecond
)

func newImage(version string) string { return "longhornio/longhorn-instance-manager:" + version }

// upgrades replaces the v2 data engine of three nodes under load, shows a refused upgrade that would lose a volume, and one that
// fails half-way and is resumed.
func (d *demo) upgrades(ctx context.Context) error {
	for _, part := range []func(context.Context) error{d.underLoad, d.refused, d.halfWay} {
		if err := part(ctx); err != nil {
			return err
		}
	}
	return nil
}

func (d *demo) underLoad(ctx context.Context) error {
	s, w := d.scenario, d.world
	s.section("The v2 data engine of three nodes is upgraded under load")
	for _, v := range [][2]string{{orders, cut}, {mail, spare}} {
		name, node := v[0], v[1]
		if err := s.step(ctx, "v2 volume "+name+" is attached to "+node+" and written to continuously",
			func(ctx context.Context) (string, error) {
				if err := w.Order(ctx, name, v1beta2.DataEngineV2, 3, nil); err != nil {
					return "", err
				}
				if err := d.pod(ctx, name, node); err != nil {
					return "", err
				}
				if err := w.WaitRobust(ctx, name, v1beta2.VolumeRobustnessHealthy, patience); err != nil {
					return "", err
				}
				return fmt.Sprintf("a numbered write each %s, read back and compared", writeEvery), w.WriteOn(ctx, name, writeEvery)
			}); err != nil {
			return err
		}
	}
	if err := s.step(ctx, "kubectl apply: one DataEngineUpgradeManager", func(ctx context.Context) (string, error) {
		if err := w.Upgrade(ctx, "upgrade", newImage("v1.12.2"), nil); err != nil {
			return "", err
		}
		_, err := w.WaitUpgrade(ctx, "upgrade", patience, v1beta2.UpgradeStateUpgrading)
		return "every node has the image, and nothing blocks the upgrade", err
	}); err != nil {
		return err
	}
	for n := 1; n <= len(nodes); n++ {
		if err := d.nodeUpgraded(ctx, n); err != nil {
			return err
		}
	}
	for _, name := range []string{orders, mail} {
		if err := s.step(ctx, name+" lost nothing", func(ctx context.Context) (string, error) {
			return d.workload(ctx, name)
		}); err != nil {
			return err
		}
	}
	return d.tables(ctx, "instancemanagers", "lhim")
}

// nodeUpgraded waits until the given number of nodes is upgraded; after the first one it shows the rest of the upgrade as it goes on.
func (d *demo) nodeUpgraded(ctx context.Context, count int) error {
	w := d.world
	if count == 2 {
		if err := d.plugin(ctx, "upgrade", "watch", "upgrade", "--timeout", "5m"); err != nil {
			return err
		}
	}
	return d.scenario.step(ctx, fmt.Sprintf("%d of %d nodes are upgraded", count, len(nodes)), func(ctx context.Context) (string, error) {
		m := &v1beta2.DataEngineUpgradeManager{}
		err := w.Wait(ctx, "the next node", patience, func(ctx context.Context) (string, error) {
			if err := w.Get(ctx, "upgrade", m); err != nil || len(m.Status.UpgradedNodes) >= count {
				return "", err
			}
			return fmt.Sprintf("it is %s on %s: %s", m.Status.Step, m.Status.UpgradingNode, m.Status.ErrorMessage), nil
		})
		if err != nil {
			return "", err
		}
		node := m.Status.UpgradedNodes[count-1]
		return node + ": targets relocated, replicas removed, instance manager replaced, targets switched back, replicas rebuilt", nil
	})
}

// workload ends what writes to a volume, and fails when it lost anything.
func (d *demo) workload(ctx context.Context, name string) (string, error) {
	seen, err := d.world.StopWriting(ctx, name)
	if err != nil {
		return "", err
	}
	if harm := seen.Harm(); harm != "" {
		return "", errors.New(harm)
	}
	return fmt.Sprintf("%d writes were acknowledged and read back; the longest pause was %s", seen.Writes,
		seen.Pause().Round(time.Millisecond)), d.world.Verify(ctx, name)
}

// refused requests an upgrade that would remove the only replica of a volume.
func (d *demo) refused(ctx context.Context) error {
	s, w := d.scenario, d.world
	s.section("An upgrade that would lose a volume is refused before anything is changed")
	if err := s.step(ctx, "v2 volume "+scratch+" with a single replica is attached to "+helper, func(ctx context.Context) (string, error) {
		if err := w.Order(ctx, scratch, v1beta2.DataEngineV2, 1, nil); err != nil {
			return "", err
		}
		return "", d.pod(ctx, scratch, helper)
	}); err != nil {
		return err
	}
	if err := s.step(ctx, "the snapshots that the upgrade took are removed again", func(ctx context.Context) (string, error) {
		return "", d.ownSnapshotsGone(ctx, "upgrade")
	}); err != nil {
		return err
	}
	if err := s.step(ctx, "the next upgrade is refused", func(ctx context.Context) (string, error) {
		if err := w.Upgrade(ctx, "refused", newImage("v1.13.0"), nil); err != nil {
			return "", err
		}
		m, err := w.WaitUpgrade(ctx, "refused", patience, v1beta2.UpgradeStateError)
		return m.Status.ErrorMessage, err
	}); err != nil {
		return err
	}
	return s.step(ctx, "the pod of "+scratch+" ends", func(ctx context.Context) (string, error) {
		if err := w.DropTicket(ctx, scratch, "csi-"+scratch+"-"+helper); err != nil {
			return "", err
		}
		return "detached volumes do not block an upgrade", w.WaitDetached(ctx, scratch, patience)
	})
}

// ownSnapshotsGone waits until none is left of the snapshots that upgrades take of volumes before they change them.
func (d *demo) ownSnapshotsGone(ctx context.Context, prefix string) error {
	w := d.world
	return w.Wait(ctx, "the removal of the upgrade's snapshots", patience, func(ctx context.Context) (string, error) {
		var list v1beta2.SnapshotList
		if err := w.Admin.List(ctx, &list, client.InNamespace(w.Namespace)); err != nil {
			return "", fmt.Errorf("listing snapshots: %w", err)
		}
		for i := range list.Items {
			if strings.HasPrefix(list.Items[i].Name, prefix+"-") {
				return list.Items[i].Name + " is still there", nil
			}
		}
		return "", nil
	})
}

// halfWay lets an upgrade fail in the middle: it is rolled back, and resumed when the cause is gone.
func (d *demo) halfWay(ctx context.Context) error {
	s, w := d.scenario, d.world
	s.section("An upgrade fails half-way, is rolled back and resumed")
	if err := s.step(ctx, "no engine can start on "+spare+" and "+helper+", and an upgrade of "+cut+" is requested",
		func(ctx context.Context) (string, error) {
			for _, node := range []string{spare, helper} {
				if err := w.Inject(ctx, world.Fault{Kind: "error", Code: "Unavailable", Method: "InstanceCreate", Node: node,
					DataEngine: "v2"}); err != nil {
					return "", err
				}
			}
			if err := w.WriteOn(ctx, orders, writeEvery); err != nil {
				return "", err
			}
			return "the timeout of each step is 2 s here, instead of 10 min",
				w.Upgrade(ctx, "halfway", newImage("v1.13.0"), func(spec *v1beta2.DataEngineUpgradeManagerSpec) {
					spec.Nodes, spec.Timeouts = []string{cut}, map[string]v1beta2.StateTimeout{v1beta2.UpgradeStateSwitchingOver: "2s"}
				})
		}); err != nil {
		return err
	}
	if err := s.step(ctx, "the upgrade fails before the instance manager is replaced", func(ctx context.Context) (string, error) {
		m, err := w.WaitUpgrade(ctx, "halfway", patience, v1beta2.UpgradeStateError)
		return m.Status.ErrorMessage, err
	}); err != nil {
		return err
	}
	if err := d.tables(ctx, "nodedataengineupgrades", "lhnu"); err != nil {
		return err
	}
	return s.step(ctx, "the cause is removed, and kubectl patch lhum halfway resumes it", func(ctx context.Context) (string, error) {
		if err := w.Heal(ctx); err != nil {
			return "", err
		}
		if err := w.ChangeUpgrade(ctx, "halfway", map[string]any{"timeouts": nil}); err != nil {
			return "", err
		}
		if _, err := w.WaitUpgrade(ctx, "halfway", patience, v1beta2.UpgradeStateCompleted); err != nil {
			return "", err
		}
		return d.workload(ctx, orders)
	})
}
