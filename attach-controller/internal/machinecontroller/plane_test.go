package machinecontroller

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/status"
	"drover.dev/drover/shared/testkit"
)

// plane simulates im-monitor and the data plane: instances run and stop as their specs want, engines report their replicas as RW. It also
// releases deleted replicas and VolumeAttachments, as their controllers do. A test changes it by change.
type plane struct {
	w       *world
	reactor *testkit.Reactor

	mutex sync.Mutex
	// down are nodes on which nothing is seen, broken instances that fail, still those that do not move.
	down, broken, still map[string]bool
	// modes are the reported modes of replicas, instead of the real ones.
	modes map[string]string
	// rebuilding keeps rebuilds from ending, growing expansions, holding replicas that are deleted.
	rebuilding, growing, holding bool
	runs                         int
	// lost records frontends that led to an engine that must not run, while they ran themselves.
	lost []string
}

func newPlane(w *world) *plane {
	p := &plane{w: w, down: map[string]bool{}, broken: map[string]bool{}, still: map[string]bool{}, modes: map[string]string{}}
	p.reactor = testkit.React(w.t, w.admin, w.namespace, p.pass,
		&v1beta2.EngineList{}, &v1beta2.EngineFrontendList{}, &v1beta2.ReplicaList{}, &v1beta2.VolumeAttachmentList{})
	return p
}

// change bends what happens from now on.
func (p *plane) change(f func(*plane)) {
	p.mutex.Lock()
	f(p)
	p.mutex.Unlock()
	p.reactor.Again()
}

// pass answers everything that is there once.
func (p *plane) pass(ctx context.Context) error {
	p.mutex.Lock()
	defer p.mutex.Unlock()
	var replicas v1beta2.ReplicaList
	var engines v1beta2.EngineList
	var frontends v1beta2.EngineFrontendList
	for _, list := range []client.ObjectList{&replicas, &engines, &frontends} {
		if err := p.w.admin.List(ctx, list, client.InNamespace(p.w.namespace)); err != nil {
			return err
		}
	}
	running := map[string]bool{}
	for i := range replicas.Items {
		r := &replicas.Items[i]
		s := r.Status
		now, err := p.answer(ctx, r, r.Spec.NodeID, r.Spec.DesireState,
			seen{s.CurrentState, s.StorageIP, s.UUID, s.Port, nodeDown(s.Conditions)}, true, replicas.Items, nil)
		if err != nil {
			return err
		}
		running[r.Name] = now.state == v1beta2.InstanceStateRunning && !p.down[r.Spec.NodeID]
		if r.DeletionTimestamp != nil && now.state == v1beta2.InstanceStateStopped && !p.holding {
			if err := status.DropFinalizer(ctx, p.w.admin, r, v1beta2.Finalizer); err != nil {
				return err
			}
		}
	}
	targets := map[string]bool{}
	for i := range engines.Items {
		up, err := p.engine(ctx, &engines.Items[i], running, replicas.Items)
		if err != nil {
			return err
		}
		targets[engines.Items[i].Name] = up
	}
	for i := range frontends.Items {
		f := &frontends.Items[i]
		s := f.Status
		_, err := p.answer(ctx, f, f.Spec.NodeID, f.Spec.DesireState,
			seen{s.CurrentState, s.StorageIP, s.UUID, s.Port, nodeDown(s.Conditions)},
			targets[f.Spec.EngineName] && f.Spec.TargetIP != "", replicas.Items, p.connect(f, engines.Items))
		if err != nil {
			return err
		}
	}
	return p.attachments(ctx)
}

// connect is what changes of where a frontend leads to: to what its spec names, once that runs.
func (p *plane) connect(f *v1beta2.EngineFrontend, engines []v1beta2.Engine) map[string]any {
	running := f.Spec.DesireState == v1beta2.InstanceStateRunning && f.Status.CurrentState == v1beta2.InstanceStateRunning
	switch {
	case f.Spec.DesireState != v1beta2.InstanceStateRunning && f.Status.TargetIP != "" && !p.still[f.Name]:
		return map[string]any{"targetIP": nil, "targetPort": nil}
	case !running || p.still[f.Name] || p.down[f.Spec.NodeID]:
		return nil
	}
	if s := f.Status; s.TargetIP != "" && !slices.ContainsFunc(engines, func(e v1beta2.Engine) bool {
		return e.Status.StorageIP == s.TargetIP && e.Status.Port == s.TargetPort && e.Spec.DesireState == v1beta2.InstanceStateRunning
	}) {
		p.lost = append(p.lost, fmt.Sprintf("%s leads to %s:%d, where no engine must run", f.Name, s.TargetIP, s.TargetPort))
	}
	for _, e := range engines {
		at := e.Name == f.Spec.EngineName && e.Status.StorageIP == f.Spec.TargetIP && e.Status.Port == f.Spec.TargetPort
		if at && e.Status.CurrentState == v1beta2.InstanceStateRunning &&
			(f.Status.TargetIP != f.Spec.TargetIP || f.Status.TargetPort != f.Spec.TargetPort) {
			return map[string]any{"targetIP": f.Spec.TargetIP, "targetPort": f.Spec.TargetPort}
		}
	}
	return nil
}

// attachments plays who owns VolumeAttachments.
func (p *plane) attachments(ctx context.Context) error {
	var list v1beta2.VolumeAttachmentList
	if err := p.w.admin.List(ctx, &list, client.InNamespace(p.w.namespace)); err != nil {
		return err
	}
	for i := range list.Items {
		if list.Items[i].DeletionTimestamp == nil {
			continue
		}
		if err := status.DropFinalizer(ctx, p.w.admin, &list.Items[i], v1beta2.Finalizer); err != nil {
			return err
		}
	}
	return nil
}

// engine serves an engine, and polls it.
func (p *plane) engine(ctx context.Context, e *v1beta2.Engine, running map[string]bool, replicas []v1beta2.Replica) (up bool, err error) {
	s := e.Status
	before := seen{s.CurrentState, s.StorageIP, s.UUID, s.Port, nodeDown(s.Conditions)}
	now := p.next(e.Name, e.Spec.NodeID, e.Spec.DesireState, before, len(e.Spec.ReplicaAddressMap) > 0, replicas)
	more := map[string]any{}
	if now.state == v1beta2.InstanceStateRunning && !p.still[e.Name] {
		p.poll(e, now.uuid != before.uuid, running, more)
	}
	_, err = p.answer(ctx, e, e.Spec.NodeID, e.Spec.DesireState, before, len(e.Spec.ReplicaAddressMap) > 0, replicas, more)
	return now.state == v1beta2.InstanceStateRunning, err
}

// poll is what a running engine reports: the mode of each replica, its size, and the time of the poll.
func (p *plane) poll(e *v1beta2.Engine, fresh bool, running map[string]bool, more map[string]any) {
	modes := map[string]any{}
	for name := range e.Spec.ReplicaAddressMap {
		was := e.Status.ReplicaModeMap[name]
		mode := v1beta2.ReplicaModeRW
		switch {
		case p.modes[name] != "":
			mode = p.modes[name]
		case !running[name] || !fresh && was == v1beta2.ReplicaModeERR:
			mode = v1beta2.ReplicaModeERR
		case !fresh && was == "", was == v1beta2.ReplicaModeWO && p.rebuilding:
			mode = v1beta2.ReplicaModeWO
		}
		if mode != was {
			modes[name] = mode
		}
	}
	for name := range e.Status.ReplicaModeMap {
		if _, mapped := e.Spec.ReplicaAddressMap[name]; !mapped {
			modes[name] = nil
		}
	}
	if len(modes) > 0 {
		more["replicaModeMap"] = modes
	}
	if e.Status.CurrentSize != e.Spec.VolumeSize && !p.growing {
		more["currentSize"] = fmt.Sprint(e.Spec.VolumeSize)
	}
	if asked := e.Spec.LookRequestedAt; asked != "" && e.Status.LookedAt < asked {
		more["lookedAt"] = time.Now().UTC().Format(time.RFC3339Nano)
	}
}

// answer writes what an instance is now, where that is new.
func (p *plane) answer(ctx context.Context, obj client.Object, node, desired string, before seen, may bool, replicas []v1beta2.Replica,
	more map[string]any) (seen, error) {
	now := p.next(obj.GetName(), node, desired, before, may, replicas)
	fields := maps.Clone(more)
	if now != before {
		if fields == nil {
			fields = map[string]any{}
		}
		maps.Copy(fields, map[string]any{"currentState": now.state, "ip": now.ip, "storageIP": now.ip, "uuid": now.uuid, "port": now.port,
			"instanceManagerName": "im-of-" + node})
		if now.nodeDown != before.nodeDown {
			down := v1beta2.ConditionFalse
			if now.nodeDown {
				down = v1beta2.ConditionTrue
			}
			fields["conditions"] = status.ConditionsField([]v1beta2.Condition{{Type: v1beta2.InstanceNodeDown, Status: down,
				Reason: v1beta2.ReasonNodeDown}})
		}
	}
	if len(fields) == 0 {
		return now, nil
	}
	err := status.MergeStatus(ctx, p.w.admin, obj, fields)
	if apierrors.IsNotFound(err) {
		err = nil
	}
	return now, err
}
