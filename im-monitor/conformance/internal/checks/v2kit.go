package checks

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"strconv"

	"google.golang.org/protobuf/types/known/emptypb"

	"drover.dev/drover/im-monitor/conformance/internal/suite"
	"drover.dev/drover/im-monitor/conformance/internal/target"
	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/internal/rpc/spdkrpc"
)

// Types of v2 instances.
const (
	typeReplica  = "replica"
	typeEngine   = "engine"
	typeFrontend = "engine-frontend"
)

// v2kit makes volumes of data engine v2 for one check.
type v2kit struct {
	*suite.T
	volume string
}

func newV2(t *suite.T) v2kit { return v2kit{T: t, volume: t.Name("")} }

// spdk is a v2 instance that was created.
type spdk struct {
	name, typ, address string
	on                 *target.Manager
}

// v2 is a check of a v2 instance manager whose disk is written to.
func v2(id, name, contract string, run func(v2kit), more ...suite.Need) suite.Check {
	return suite.Check{ID: "v2-" + id, Name: name, Engine: target.V2, Contract: contract, Needs: append([]suite.Need{suite.Disk}, more...),
		Run: func(t *suite.T) { run(newV2(t)) }}
}

// create asks for an instance and has it removed at the end.
func (k v2kit) create(on *target.Manager, spec *imrpc.InstanceSpec) (*imrpc.InstanceResponse, error) {
	k.Cleanup(func(ctx context.Context) error { return removeV2(ctx, on, spec.GetName(), spec.GetType()) })
	spec.DataEngine = imrpc.DataEngine_DATA_ENGINE_V2
	if spec.GetVolumeName() == "" {
		spec.VolumeName = k.volume
	}
	return on.Instance.InstanceCreate(k.Context(), &imrpc.InstanceCreateRequest{Spec: spec})
}

// removeV2 deletes an instance with its data until the manager does not list it.
func removeV2(ctx context.Context, on *target.Manager, name, typ string) error {
	return untilGone(ctx, on, name, &imrpc.InstanceDeleteRequest{Name: name, Type: typ, DataEngine: imrpc.DataEngine_DATA_ENGINE_V2,
		CleanupRequired: true})
}

func (k v2kit) replicaName(number int) string { return fmt.Sprintf("%s-r-%08d", k.volume, number) }

// replicaSpec is a replica on the disk of a manager.
func (k v2kit) replicaSpec(name string, d disk) *imrpc.InstanceSpec {
	return &imrpc.InstanceSpec{Name: name, Type: typeReplica, PortCount: 5,
		SpdkInstanceSpec: &imrpc.SpdkInstanceSpec{DiskName: d.name, DiskUuid: d.uuid, Size: uint64(k.VolumeSize)}}
}

// replica starts a replica and waits until it runs.
func (k v2kit) replica(on *target.Manager, number int) spdk {
	name := k.replicaName(number)
	_, err := k.create(on, k.replicaSpec(name, k.disk(on)))
	k.OK(err, "creating replica %s", name)
	return k.runs(on, name, typeReplica)
}

// engineSpec is an engine over replicas.
func (k v2kit) engineSpec(name, frontend string, replicas ...spdk) *imrpc.InstanceSpec {
	addresses := map[string]string{}
	for _, r := range replicas {
		addresses[r.name] = r.address
	}
	return &imrpc.InstanceSpec{Name: name, Type: typeEngine, PortCount: 1,
		SpdkInstanceSpec: &imrpc.SpdkInstanceSpec{ReplicaAddressMap: addresses,
			Size: uint64(k.VolumeSize), Frontend: frontend, SnapshotMaxCount: 250}}
}

// engine starts an engine with a target for block devices, and waits until it runs.
func (k v2kit) engine(on *target.Manager, number int, replicas ...spdk) spdk {
	return k.engineFor(on, number, k.FrontendV2, replicas...)
}

func (k v2kit) engineFor(on *target.Manager, number int, frontend string, replicas ...spdk) spdk {
	name := fmt.Sprintf("%s-e-%d", k.volume, number)
	_, err := k.create(on, k.engineSpec(name, frontend, replicas...))
	k.OK(err, "creating engine %s", name)
	return k.runs(on, name, typeEngine)
}

// frontendSpec is a frontend at an engine's target.
func (k v2kit) frontendSpec(name, kind string, e spdk) *imrpc.InstanceSpec {
	return &imrpc.InstanceSpec{Name: name, Type: typeFrontend, PortCount: 1, EngineName: e.name, TargetAddress: e.address,
		SpdkInstanceSpec: &imrpc.SpdkInstanceSpec{Size: uint64(k.VolumeSize), Frontend: kind}}
}

// frontend starts a block device at the first manager and waits until it runs.
func (k v2kit) frontend(e spdk) spdk { return k.frontendFor(k.FrontendV2, e) }

func (k v2kit) frontendFor(kind string, e spdk) spdk {
	name := k.volume + "-ef-0"
	_, err := k.create(k.Manager, k.frontendSpec(name, kind, e))
	k.OK(err, "creating frontend %s", name)
	return k.runs(k.Manager, name, typeFrontend)
}

// served is a volume of one replica with engine and frontend on the first manager.
func (k v2kit) served() (f, e, r spdk) {
	r = k.replica(k.Manager, 1)
	e = k.engine(k.Manager, 0, r)
	return k.frontend(e), e, r
}

// runs waits until an instance runs.
func (k v2kit) runs(on *target.Manager, name, typ string) spdk {
	seen := k.inState(on, name, typ, running)
	return spdk{name: name, typ: typ, on: on, address: net.JoinHostPort(on.Host, strconv.Itoa(int(seen.GetStatus().GetPortStart())))}
}

// inState waits until an instance is in a state.
func (k v2kit) inState(on *target.Manager, name, typ, state string) *imrpc.InstanceResponse {
	var seen *imrpc.InstanceResponse
	k.Eventually(typ+" "+name+" is "+state, func() (bool, string) {
		var err error
		seen, err = k.get(on, name, typ)
		if got := seen.GetStatus().GetState(); err == nil && got == failed && state != failed {
			k.Fatalf("%s %s is in state error instead of %s: %s", typ, name, state, seen.GetStatus().GetErrorMsg())
		}
		return err == nil && seen.GetStatus().GetState() == state, describe(seen, err)
	})
	return seen
}

func (k v2kit) get(on *target.Manager, name, typ string) (*imrpc.InstanceResponse, error) {
	return on.Instance.InstanceGet(k.Context(), &imrpc.InstanceGetRequest{Name: name, Type: typ,
		DataEngine: imrpc.DataEngine_DATA_ENGINE_V2})
}

// delete deletes once.
func (k v2kit) delete(i spdk, cleanup bool) (*imrpc.InstanceResponse, error) {
	return i.on.Instance.InstanceDelete(k.Context(), &imrpc.InstanceDeleteRequest{Name: i.name, Type: i.typ, CleanupRequired: cleanup,
		DataEngine: imrpc.DataEngine_DATA_ENGINE_V2})
}

// stop deletes an instance with its data and waits until it is gone.
func (k v2kit) stop(i spdk) { k.OK(removeV2(k.Context(), i.on, i.name, i.typ), "deleting %s", i.name) }

// detach stops a replica that keeps its data.
func (k v2kit) detach(r spdk) {
	_, err := k.delete(r, false)
	k.OK(err, "stopping replica %s", r.name)
	k.inState(r.on, r.name, typeReplica, stopped)
}

// attach starts a replica that is there.
func (k v2kit) attach(r spdk) spdk {
	_, err := k.create(r.on, k.replicaSpec(r.name, k.disk(r.on)))
	k.OK(err, "starting replica %s again", r.name)
	return k.runs(r.on, r.name, typeReplica)
}

// headUUID is the identity of a replica.
func (k v2kit) headUUID(r spdk) string {
	return k.spdkReplica(r).GetHead().GetUuid()
}

func (k v2kit) spdkReplica(r spdk) *spdkrpc.Replica {
	out, err := r.on.SPDK.ReplicaList(k.Context(), &emptypb.Empty{})
	k.OK(err, "listing the replicas of SPDK")
	return out.GetReplicas()[r.name]
}

// ref names an engine of the first manager, and its frontend.
func (k v2kit) ref(e, f spdk) *imrpc.ProxyEngineRequest {
	return &imrpc.ProxyEngineRequest{Address: cmp.Or(e.address, k.Manager.Host+":0"), EngineName: e.name, VolumeName: k.volume,
		EngineFrontendName: f.name, DataEngine: imrpc.DataEngine_DATA_ENGINE_V2}
}

// at is the volume for Content.
func (k v2kit) at(f spdk) target.Volume {
	seen, err := k.get(f.on, f.name, typeFrontend)
	k.OK(err, "getting frontend %s", f.name)
	return target.Volume{Name: k.volume, Manager: f.on, Endpoint: seen.GetStatus().GetEndpoint()}
}

func (k v2kit) write(f spdk, block int64, text string) { write(k.T, k.at(f), block, text) }

func (k v2kit) reads(f spdk, block int64, want string) { reads(k.T, k.at(f), block, want) }

// restart restarts the first manager and waits until it answers.
func (k v2kit) restart() {
	err := k.Lab.Restart(k.Context(), k.Manager)
	k.Require(err == nil, "restarting %s: %v", k.Manager.Host, err)
	k.Eventually("the manager answers", func() (bool, string) {
		_, err := k.Manager.Instance.InstanceList(k.Context(), &emptypb.Empty{})
		return err == nil, fmt.Sprint(err)
	})
}
