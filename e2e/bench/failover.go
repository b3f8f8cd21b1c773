package main

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// failover measures, with a cluster's lease times, how long a controller is without a leader: from the end of the leader's process to the
// first status write of an object that was created right after that end.
func failover(ctx context.Context, r *report) (err error) {
	w, err := world.Start(ctx, world.Options{RealTimes: true, Nodes: threeNodes, Record: true, Attach: true, Log: r.logf,
		Flags: measured()})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	for _, controller := range []string{world.IMMonitor, world.AttachController} {
		b := &failoverBench{report: r, world: w, controller: controller, leader: w.Process(controller)}
		for _, c := range []ending{
			{"graceful", "<= 1.5", true, (*world.Process).Stop},
			{"crash", "<= 16", true, killed},
			{"own_restart", "<= 1.5", false, killed},
		} {
			if err := b.measure(ctx, c); err != nil {
				return err
			}
		}
	}
	return nil
}

func killed(p *world.Process) error {
	p.Kill()
	return nil
}

type failoverBench struct {
	*report
	world      *world.World
	controller string
	leader     *world.Process
}

// ending is how a leader ends, and whether a standby or its own next run follows.
type ending struct {
	name, goal string
	standby    bool
	end        func(*world.Process) error
}

func (b *failoverBench) measure(ctx context.Context, c ending) error {
	var times, taken []float64
	for run := range runs {
		next, err := b.next(ctx, c, run)
		if err != nil {
			return err
		}
		lease, written, err := b.once(ctx, c, next, b.unrelated(c.name, run))
		if err != nil {
			return err
		}
		times, taken = append(times, written), append(taken, lease)
		b.logf("  %s %s run %d of %d: lease taken after %.2f s, first status after %.2f s", b.controller, c.name, run+1, runs, lease, written)
		if b.leader != next {
			if err := b.world.Remove(b.leader); err != nil {
				return err
			}
		}
		b.leader = next
	}
	name := "failover." + c.name
	if b.controller != world.IMMonitor {
		name += "." + strings.ReplaceAll(b.controller, "-", "_")
	}
	b.add(Result{Name: name, Value: median(times), Unit: "s", Goal: c.goal, Runs: runs, Spread: spread(times),
		Note: fmt.Sprintf("default lease times; %s from the end of its process; the lease was taken after %.2f s", b.controller, median(taken))})
	return nil
}

// next is the process that leads after the leader's end: a standby whose caches are filled, or its own next run.
func (b *failoverBench) next(ctx context.Context, c ending, run int) (*world.Process, error) {
	if !c.standby {
		return b.leader, nil
	}
	standby, err := b.world.StartController(ctx, b.controller, fmt.Sprintf("-%s-%d", c.name, run))
	if err != nil {
		return nil, err
	}
	return standby, b.world.WaitReady(ctx, standby, time.Minute)
}

// once ends the leader, and returns the seconds until the next one took its lease, and until it wrote the object's first status.
func (b *failoverBench) once(ctx context.Context, c ending, next *world.Process, object client.Object) (lease, written float64, err error) {
	if err := c.end(b.leader); err != nil {
		return 0, 0, err
	}
	ended := time.Now()
	if b.leader == next {
		if err := next.Restart(); err != nil {
			return 0, 0, err
		}
	}
	if err := b.world.Admin.Create(ctx, object); err != nil {
		return 0, 0, fmt.Errorf("creating an object: %w", err)
	}
	at, err := b.firstStatus(ctx, next, object.GetName())
	if err != nil {
		return 0, 0, err
	}
	for _, l := range b.world.API.Leases() {
		if l.Source == next.Source && l.Code < 300 && (b.leader != next || l.Began.After(ended)) {
			return l.Ended.Sub(ended).Seconds(), at.Sub(ended).Seconds(), nil
		}
	}
	return 0, 0, fmt.Errorf("%s wrote without its lease", next.Name)
}

// firstStatus is when the process wrote the first status of the object.
func (b *failoverBench) firstStatus(ctx context.Context, process *world.Process, name string) (at time.Time, err error) {
	return at, b.world.Wait(ctx, "the first status of "+name, time.Minute, func(context.Context) (string, error) {
		for _, w := range b.world.API.Writes() {
			if w.Source == process.Source && w.Object == name && w.Subresource == "status" && w.Code < 300 {
				at = w.Ended
				return "", nil
			}
		}
		return "it has none", nil
	})
}

// unrelated is a new object whose status the controller writes at once.
func (b *failoverBench) unrelated(name string, run int) client.Object {
	meta := metav1.ObjectMeta{Namespace: b.world.Namespace, Name: fmt.Sprintf("%s-%d", strings.ReplaceAll(name, "_", "-"), run)}
	if b.controller == world.AttachController {
		return &v1beta2.Volume{ObjectMeta: meta, Spec: v1beta2.VolumeSpec{DataEngine: v1beta2.DataEngineV1, Size: world.VolumeSize,
			NumberOfReplicas: 1, Frontend: "blockdev", AccessMode: v1beta2.AccessModeReadWriteOnce}}
	}
	meta.Name += "-r-0"
	return &v1beta2.Replica{ObjectMeta: meta, Spec: v1beta2.ReplicaSpec{NodeID: node}}
}
