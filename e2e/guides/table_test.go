//go:build !fast

package guides

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

type (
	words = map[string]string
	steps = map[string]func(context.Context, *fixture) error
	exits = map[string][]int
)

// installs are the commands that run on a control plane without Drover.
var installs = regexp.MustCompile(`^helm install `)

// waiting are the exit codes of what waits for a person, as an orphan does.
var waiting = exits{"kubectl drover status": {2}, "kubectl drover doctor": {2}}

// guideOf returns how the commands of a page are run. Pages without an entry are run with an attached volume.
func guideOf(page string) guide {
	if g, found := guides()[page]; found {
		return g
	}
	if client, isClient := strings.CutPrefix(page, "charts/"); isClient && (client == "csi/README.md" || client == "ui/README.md") {
		return clientOfTheAPI(strings.TrimSuffix(client, "/README.md"))
	}
	if strings.HasPrefix(page, "charts/") || page == "crds/README.md" {
		return guide{empty: everything, prepare: emptySystem, words: func(*fixture) words {
			return words{"<kind>": "volume", "sha256:…": "sha256:" + strings.Repeat("a", 64)}
		}, before: steps{"helm install drover-crds charts/crds --namespace longhorn-system --take-ownership": uninstalled("drover-crds")}}
	}
	return guide{prepare: attached}
}

func guides() map[string]guide {
	return map[string]guide{
		"README.md":          {prepare: volumeAndOrphan, words: orphanWords, exits: waiting, empty: installs},
		"docs/alerts":        alerts(),
		"e2e/demo/keep.md":   keptDemo(),
		"docs/monitoring.md": monitoring(),
		"docs/attaching.md": {prepare: volume, words: attachingWords, before: steps{
			"kubectl -n longhorn-system get lhva vol-1 -o go-template": attach,
			"kubectl -n longhorn-system patch lhr":                     replica,
			"kubectl -n longhorn-system patch lhsnap":                  snapshot,
		}},
		"docs/backups.md":        backups(),
		"docs/disks.md":          disks(),
		"docs/draining.md":       draining(),
		"docs/install.md":        installing(),
		"docs/kubectl-drover.md": plugin(),
		"docs/orphans.md":        {prepare: orphan, words: orphanWords, each: steps{"kubectl": orphan}},
		"docs/pods.md":           {prepare: pods, words: func(*fixture) words { return words{"<name>": "of-vol-1"} }},
		"docs/snapshots.md":      {prepare: attached},
		"docs/volumes.md": {words: func(f *fixture) words { return words{"<replica>": f.values["replica"]} },
			before: steps{"kubectl drover why vol-1  ": replicaThatStays}},
		"docs/settings.md":         {prepare: func(ctx context.Context, f *fixture) error { return f.Set(ctx, "default-replica-count", "2") }},
		"docs/taking-over.md":      takingOver(),
		"docs/leaving.md":          leaving(),
		"docs/upgrading-drover.md": upgradingDrover(),
		"docs/upgrading.md":        upgrading(),
		"im-monitor/simulator/README.md": {prepare: func(ctx context.Context, f *fixture) error {
			return attachedAs(ctx, f, "vol", v1beta2.DataEngineV2)
		}, before: steps{"simulator ctl writers start": func(ctx context.Context, f *fixture) error {
			return f.JoinNode(ctx, "node-1")
		}}},
		"snapshot-controller/README.md": snapshots(),
	}
}

// keptDemo has the volumes of the demo that its last page names.
func keptDemo() guide {
	return guide{
		prepare: func(ctx context.Context, f *fixture) error {
			if err := f.Order(ctx, "archive", v1beta2.DataEngineV2, 2, nil); err != nil {
				return err
			}
			if err := attachedAs(ctx, f, "db", v1beta2.DataEngineV1); err != nil {
				return err
			}
			if err := f.Snapshot(ctx, "db", "db-3"); err != nil {
				return err
			}
			if err := f.WaitSnapshot(ctx, "db-3", v1beta2.SnapshotReady, v1beta2.ReasonReady, soon); err != nil {
				return err
			}
			if err := f.BackupTarget(ctx, v1beta2.BackupTargetDefault, f.target); err != nil {
				return err
			}
			return f.AskAboutSnapshots(ctx, f.Process(world.SnapshotController))
		},
		each: steps{`echo '{"apiVersion":"longhorn.io/v1beta2","kind":"Snapshot"`: webhookAnswers},
		exits: exits{"kubectl drover status": {2}, "kubectl drover upgrade plan": {2},
			"kubectl drover why db": {1}, // it may be gone by then
			`echo '{"apiVersion":"longhorn.io/v1beta2","kind":"Snapshot"`: {1}},
		after: func(ctx context.Context, f *fixture) error { return f.RemoveWebhooks(ctx) },
	}
}

// webhookAnswers waits until the API server refuses what the page shows as refused.
func webhookAnswers(ctx context.Context, f *fixture) error {
	_, err := f.WaitSnapshotsRefused(ctx, soon)
	return err
}

// orphanWords name the orphan. Where the plugin asks on a terminal, it is answered beforehand.
func orphanWords(f *fixture) words {
	return words{"<name>": f.values["orphan"], "orphans delete <instance>": "orphans delete --yes " + stray, "<instance>": stray,
		"<replica's name>": stray}
}

func attachingWords(f *fixture) words {
	return words{"<engine>": "vol-1-e-0", "<node>": "node-3", "<replica>": f.values["replica"], "<snapshot>": "before-upgrade"}
}

func volumeAndOrphan(ctx context.Context, f *fixture) error {
	if err := volume(ctx, f); err != nil {
		return err
	}
	return orphan(ctx, f)
}

// attach attaches vol-1 to node-1 by hand.
func attach(ctx context.Context, f *fixture) error { return f.Attach(ctx, "vol-1", "node-1", soon) }

// detach ends what attach did.
func detach(ctx context.Context, f *fixture) error { return f.LetGo(ctx, "vol-1", soon) }

// replica finds a Replica of vol-1.
func replica(ctx context.Context, f *fixture) error {
	found, err := f.ReplicasOf(ctx, "vol-1")
	if err == nil {
		f.values["replica"] = found[0].Name
	}
	return err
}

// replicaThatStays finds a Replica of vol-1 once it has as many as it wants: one too many may be on its way out.
func replicaThatStays(ctx context.Context, f *fixture) error {
	return f.Wait(ctx, "as many replicas as vol-1 wants", soon, func(ctx context.Context) (string, error) {
		var volume v1beta2.Volume
		if err := f.Get(ctx, "vol-1", &volume); err != nil {
			return "", err
		}
		found, err := f.ReplicasOf(ctx, "vol-1")
		if err != nil {
			return "", err
		}
		if len(found) != volume.Spec.NumberOfReplicas {
			return fmt.Sprintf("there are %d of %d", len(found), volume.Spec.NumberOfReplicas), nil
		}
		f.values["replica"] = found[0].Name
		return "", nil
	})
}

// snapshot creates a snapshot of vol-1 and waits for it.
func snapshot(ctx context.Context, f *fixture) error {
	if err := f.Snapshot(ctx, "vol-1", "before-upgrade"); err != nil {
		return err
	}
	return f.WaitSnapshot(ctx, "before-upgrade", v1beta2.SnapshotReady, v1beta2.ReasonReady, soon)
}

func backups() guide {
	return guide{
		prepare: func(ctx context.Context, f *fixture) error {
			if err := f.Order(ctx, "vol-1", v1beta2.DataEngineV1, 3, nil); err != nil {
				return err
			}
			return snapshot(ctx, f)
		},
		// Each node of the simulator reaches the same directory, and no NFS or S3.
		words: func(f *fixture) words {
			return words{"nfs://nas.example.com:/backups": "file://" + f.target, "s3://backups@eu/": "file://" + f.target}
		},
		before: steps{
			"kubectl create -n longhorn-system -f - <<'END'\napiVersion: longhorn.io/v1beta2\nkind: Backup\n": func(ctx context.Context,
				f *fixture) error {
				return f.shell.sh(ctx, `kubectl patch -n longhorn-system lhbt default --type merge -p '{"spec":{"credentialSecret":""}}'`)
			},
			"kubectl patch -n longhorn-system lhv vol-1-standby": standby,
			"kubectl patch -n longhorn-system volumeattachments.longhorn.io vol-1": func(ctx context.Context, f *fixture) error {
				return f.WaitDetached(ctx, "vol-1", soon)
			},
		},
	}
}

// standby creates a standby volume of the backup monday.
func standby(ctx context.Context, f *fixture) error {
	backup, err := f.WaitBackupState(ctx, "monday", v1beta2.BackupCompleted, soon)
	if err != nil {
		return err
	}
	return f.Order(ctx, "vol-1-standby", v1beta2.DataEngineV1, 1, func(spec *v1beta2.VolumeSpec) {
		spec.Standby, spec.Frontend, spec.FromBackup = true, "", backup.Status.URL
	})
}

func disks() guide {
	const device = "/dev/disk/by-id/nvme-1"
	return guide{
		prepare: func(ctx context.Context, f *fixture) error {
			for _, path := range []string{device, "/dev/sdb", "/dev/sdc"} {
				if _, err := f.AddDevice(ctx, world.Device{Node: "node-1", Path: path}); err != nil {
					return err
				}
			}
			if err := f.SetDisks(ctx, "node-1", map[string]any{"slow": world.BlockDisk("/dev/sdb", "new")}); err != nil {
				return err
			}
			status, err := f.DiskStatus(ctx, "node-1", "disk-1")
			if err != nil {
				return err
			}
			f.values["uuid"] = status.DiskUUID
			if err := orphan(ctx, f); err != nil {
				return err
			}
			return attached(ctx, f)
		},
		each: steps{"kubectl drover orphans": orphan},
		words: func(f *fixture) words {
			out := orphanWords(f)
			out["/dev/disk/by-id/<device>"], out["<uuid>"], out["<node>"] = device, f.values["uuid"], "node-1"
			return out
		},
		after: func(ctx context.Context, f *fixture) error {
			for _, key := range []string{"fast", "slow"} {
				if err := f.ReleaseDisk(ctx, "node-1", key, soon); err != nil {
					return err
				}
			}
			return nil
		},
	}
}

func draining() guide {
	return guide{
		prepare: func(ctx context.Context, f *fixture) error {
			if err := volume(ctx, f); err != nil {
				return err
			}
			return f.Attach(ctx, "vol-1", "node-2", soon)
		},
		words: func(f *fixture) words {
			return words{"<instance manager>": f.InstanceManager("node-2", v1beta2.DataEngineV2), "<volume>": "vol-1"}
		},
		after: func(ctx context.Context, f *fixture) error { return f.Cordon(ctx, "node-1", false) },
	}
}

// pods creates what Kubernetes has for a volume that a pod on node-1 uses.
func pods(ctx context.Context, f *fixture) error {
	if err := volume(ctx, f); err != nil {
		return err
	}
	if err := f.PersistentVolume(ctx, "vol-1"); err != nil {
		return err
	}
	return f.AskAttachment(ctx, "of-vol-1", "vol-1", "node-1")
}

func snapshots() guide {
	return guide{
		prepare: func(ctx context.Context, f *fixture) error {
			if err := attached(ctx, f); err != nil {
				return err
			}
			if err := f.VolumeSnapshots(ctx); err != nil {
				return err
			}
			if err := f.Order(ctx, "data", v1beta2.DataEngineV2, 2, nil); err != nil {
				return err
			}
			if err := f.PersistentVolume(ctx, "data"); err != nil {
				return err
			}
			return f.Claim(ctx, "data")
		},
		before: steps{
			"kubectl get -n longhorn-system lhsnap before-upgrade": func(ctx context.Context, f *fixture) error {
				return f.WaitSnapshot(ctx, "before-upgrade", v1beta2.SnapshotReady, v1beta2.ReasonReady, soon)
			},
			"kubectl get volumesnapshot monday": func(ctx context.Context, f *fixture) error {
				return f.shell.sh(ctx, "kubectl wait volumesnapshot monday --for=jsonpath='{.status.readyToUse}'=true --timeout=30s")
			},
		},
	}
}

func upgrading() guide {
	return guide{
		prepare: attached,
		words: func(*fixture) words {
			return words{"<frontend>": "vol-1-ef-0", "<volume>": "vol-1", "<node>": "node-1"}
		},
		before: steps{
			"kubectl drover upgrade resume": aborted,
			"kubectl -n longhorn-system get lhnu upgrade-node-1": func(ctx context.Context, f *fixture) error {
				return f.WaitNodeUpgradeState(ctx, "upgrade", "node-1", soon, v1beta2.UpgradeStateSwitchingOver, v1beta2.UpgradeStateDetachingReplicas,
					v1beta2.UpgradeStateUpgradingInstanceManager, v1beta2.UpgradeStateCompleted)
			},
			"kubectl -n longhorn-system describe pod -l": settled,
		},
		exits: exits{"kubectl -n longhorn-system get lhsnap | grep": {1}},
	}
}

// aborted creates an upgrade, and ends it before it is done.
func aborted(ctx context.Context, f *fixture) error {
	if err := f.shell.sh(ctx, "kubectl -n longhorn-system delete lhum upgrade"); err != nil {
		return err
	}
	if err := f.Upgrade(ctx, "upgrade", "longhornio/longhorn-instance-manager:v1.13.0", nil); err != nil {
		return err
	}
	if err := f.shell.sh(ctx, "kubectl drover upgrade abort upgrade --yes"); err != nil {
		return err
	}
	_, err := f.WaitUpgrade(ctx, "upgrade", soon, v1beta2.UpgradeStateError)
	return err
}

// settled waits until the upgrade is complete and each instance manager has its pod: while one is replaced, "describe pod -l" may list a
// pod that is gone before it is described.
func settled(ctx context.Context, f *fixture) error {
	if _, err := f.WaitUpgrade(ctx, "upgrade", soon, v1beta2.UpgradeStateCompleted); err != nil {
		return err
	}
	return f.Wait(ctx, "the old pods of instance managers to be gone", soon, func(ctx context.Context) (string, error) {
		managers, pods := &v1beta2.InstanceManagerList{}, &corev1.PodList{}
		selector := client.MatchingLabels{"longhorn.io/component": "instance-manager"}
		if err := errors.Join(f.List(ctx, managers), f.List(ctx, pods, selector)); err != nil {
			return "", err
		}
		ready := 0
		for _, p := range pods.Items {
			if p.DeletionTimestamp == nil {
				ready++
			}
		}
		if ready == len(pods.Items) && ready == len(managers.Items) {
			return "", nil
		}
		return fmt.Sprintf("there are %d pods, %d of them not being deleted, and %d instance managers", len(pods.Items), ready,
			len(managers.Items)), nil
	})
}

// upgrade begins an upgrade of the name that the commands have, in the place of one that has ended.
func upgrade(image string) func(context.Context, *fixture) error {
	return func(ctx context.Context, f *fixture) error {
		if err := f.shell.sh(ctx, "kubectl -n longhorn-system delete lhum upgrade-1 --ignore-not-found"); err != nil {
			return err
		}
		if err := f.Attach(ctx, "vol-1", "node-1", soon); err != nil { // an instance manager without instances takes the new image at once
			return err
		}
		if err := f.Upgrade(ctx, "upgrade-1", image, nil); err != nil {
			return err
		}
		_, err := f.WaitUpgrade(ctx, "upgrade-1", soon, v1beta2.UpgradeStateUpgrading)
		return err
	}
}

func plugin() guide {
	return guide{
		prepare: func(ctx context.Context, f *fixture) error {
			if err := volumeAndOrphan(ctx, f); err != nil {
				return err
			}
			return snapshot(ctx, f)
		},
		words: func(f *fixture) words {
			return words{"orphans delete vol-1-r-1a2b": "orphans delete --yes vol-1-r-1a2b", "orphan-5f0c": f.values["orphan"],
				"upgrade abort upgrade-1": "upgrade abort --yes upgrade-1", "/tmp/drover.zip": f.shell.dir + "/drover.zip"}
		},
		exits: exits{"kubectl drover status": {2}, "kubectl drover doctor": {2}, "kubectl drover upgrade plan": {2},
			"kubectl drover upgrade watch": {2}},
		each: steps{"kubectl drover orphans": orphan},
		before: steps{
			"kubectl drover attach vol-1 --node node-1 --disable-frontend": detach,
			"kubectl drover detach vol-1 --wait":                           attach,
			"kubectl drover detach vol-1 --ticket":                         attach,
			"kubectl drover detach vol-1 --node":                           attach,
			"kubectl drover upgrade watch":                                 upgrade("longhornio/longhorn-instance-manager:v1.12.2"),
			"kubectl drover upgrade pause":                                 upgrade("longhornio/longhorn-instance-manager:v1.13.0"),
		},
	}
}
