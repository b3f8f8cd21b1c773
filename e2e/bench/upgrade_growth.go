package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// growth upgrades a node with one volume, and then with ten times as many each time, up to manyUpgraded.
func (b *upgradeBench) growth(ctx context.Context) error {
	name := func(i int) string { return fmt.Sprintf("grow-%d", i) }
	took := map[int]float64{}
	had := 0
	for _, count := range []int{1, 10, 100, 500} {
		if count > manyUpgraded {
			b.logf("  %d volumes are not measured: --upgraded is %d", count, manyUpgraded)
			break
		}
		offset := had
		if err := b.volumesOn(ctx, func(i int) string { return name(offset + i) }, count-had); err != nil {
			return err
		}
		had = count
		var times []float64
		largest := largestObject{}
		for range runsOf(count) {
			if err := b.trusted(ctx); err != nil {
				return err
			}
			b.world.API.Reset()
			seconds, err := b.watched(ctx, &largest)
			if err != nil {
				return err
			}
			times = append(times, seconds)
			b.logf("  %d volumes: %.1f s", count, seconds)
		}
		took[count] = median(times)
		b.grown(count, took, times, largest)
	}
	return nil
}

// grown reports the upgrade of a node with this number of volumes.
func (b *upgradeBench) grown(count int, took map[int]float64, times []float64, largest largestObject) {
	result := Result{Name: fmt.Sprintf("upgrade.node_time.%d", count), Value: took[count], Unit: "s", Runs: len(times), Spread: spread(times)}
	if count == 1 {
		result.Note = "one volume with 3 replicas, from the order to its health: the part that does not grow (pods, disks, settling)"
		b.add(result)
		return
	}
	each := func(count int) float64 { return (took[count] - took[1]) / float64(count-1) }
	result.Note = fmt.Sprintf("3 replicas each, from the order to the last healthy volume; the part that grows is %.1f s, %.0f ms a volume",
		took[count]-took[1], each(count)*1000)
	b.add(result)
	if count != 500 {
		return
	}
	b.add(Result{Name: "upgrade.node_time.500.grown", Value: took[count] - took[1], Unit: "s", Goal: "<= 75", Runs: len(times),
		Note: "the part of upgrade.node_time.500 that grows with the volumes"})
	b.add(Result{Name: "upgrade.cost_growth", Value: each(count) / each(10), Unit: "ratio", Goal: "<= 1.3", Runs: len(times),
		Note: "the part that grows, per volume, 500 : 10"})
	b.add(Result{Name: "upgrade.object_kb", Value: float64(largest.bytes) / 1000, Unit: "kB", Goal: "<= 100", Runs: len(times),
		Note: fmt.Sprintf("%s, JSON, read every %s; %d volumes", largest.what, lookPause, count)})
}

// largestObject is the largest object of an upgrade that was seen.
type largestObject struct {
	what  string
	bytes int
}

// watched upgrades the node once, and looks at the objects that list its volumes meanwhile.
func (b *upgradeBench) watched(ctx context.Context, largest *largestObject) (float64, error) {
	looking, stop := context.WithCancel(ctx)
	looked := make(chan error, 1)
	go func() { looked <- b.look(looking, largest) }()
	seconds, err := b.once(ctx)
	stop()
	return seconds, errors.Join(err, <-looked)
}

// lookPause is short for an upgrade of minutes, and long enough that reading megabytes costs nothing that counts.
const lookPause = 10 * time.Second

// look keeps the largest of the objects whose size may grow with the volumes of a node, until the context ends.
func (b *upgradeBench) look(ctx context.Context, largest *largestObject) error {
	tick := time.NewTicker(lookPause)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		for _, list := range []client.ObjectList{&v1beta2.NodeDataEngineUpgradeList{}, &v1beta2.DataEngineUpgradeManagerList{},
			&v1beta2.NodeList{}, &v1beta2.InstanceManagerList{}} {
			if err := b.world.List(ctx, list); err != nil {
				if ctx.Err() != nil {
					return nil
				}
				return err
			}
			if err := largest.of(list); err != nil {
				return err
			}
		}
	}
}

func (l *largestObject) of(list client.ObjectList) error {
	return meta.EachListItem(list, func(item runtime.Object) error {
		content, err := json.Marshal(item)
		if err != nil {
			return fmt.Errorf("encoding %T: %w", item, err)
		}
		if len(content) > l.bytes {
			l.what, l.bytes = reflect.TypeOf(item).Elem().Name(), len(content)
		}
		return nil
	})
}

// trusted waits until no writes follow and the last upgraded instance manager runs long enough: for 30 seconds after its start a v2
// instance manager may still rediscover instances, and is not replaced. In practice the next upgrade does not come sooner.
func (b *upgradeBench) trusted(ctx context.Context) error {
	const rediscovery = 30 * time.Second
	if err := settled(ctx, b.world); err != nil {
		return err
	}
	if err := b.world.WaitSlowly(ctx, "the node's disk to be ready", time.Second, 5*time.Minute, func(ctx context.Context) (string, error) {
		disk, err := b.world.DiskStatus(ctx, node, "disk-1")
		if err != nil || conditions.IsTrue(disk.Conditions, v1beta2.DiskReady) {
			return "", err
		}
		return fmt.Sprintf("%+v", disk.Conditions), nil
	}); err != nil {
		return err
	}
	return b.world.WaitSlowly(ctx, "the instance manager to be trusted", time.Second, 2*rediscovery, func(context.Context) (string, error) {
		if left := time.Until(b.ended.Add(rediscovery)); left > 0 {
			return fmt.Sprintf("%s are left", left.Round(time.Second)), nil
		}
		return "", nil
	})
}

// runsOf is how often a node with this number of volumes is upgraded.
func runsOf(volumes int) int {
	if volumes > 10 {
		return 1
	}
	return runs
}
