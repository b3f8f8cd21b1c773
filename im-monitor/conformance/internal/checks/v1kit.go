package checks

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"strconv"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/status"
	"google.golang.org/protobuf/types/known/emptypb"

	"drover.dev/drover/im-monitor/conformance/internal/suite"
	"drover.dev/drover/im-monitor/conformance/internal/target"
	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/internal/rpc/ptypes"
)

// States and modes, as the wire spells them.
const (
	running  = "running"
	starting = "starting"
	stopping = "stopping"
	stopped  = "stopped"
	failed   = "error"
)

// v1kit makes volumes of data engine v1 for one check.
type v1kit struct {
	*suite.T
	volume string
}

func newV1(t *suite.T) v1kit { return v1kit{T: t, volume: t.Name("")} }

// process is a v1 instance that was created.
type process struct {
	name, address, uuid string
	on                  *target.Manager
}

// replicaOptions are what differs between replicas.
type replicaOptions struct {
	size, maxCount int64
	backingFile    string
	more           []string
}

// engineOptions are what differs between engines. A rebuild limit below 0 is passed as 0.
type engineOptions struct {
	size, current, maxCount, maxSize, rebuildLimit int64
	frontend                                       string
	noCurrent                                      bool
	more                                           []string
}

// create asks for a process and has it removed at the end. It returns the answer without waiting.
func (k v1kit) create(on *target.Manager, name, binary string, ports int32, args ...string) (*imrpc.InstanceResponse, error) {
	k.Cleanup(func(ctx context.Context) error { return removeV1(ctx, on, name) })
	spec := &imrpc.InstanceSpec{Name: name, VolumeName: k.volume, PortCount: ports, DataEngine: imrpc.DataEngine_DATA_ENGINE_V1,
		ProcessInstanceSpec: &imrpc.ProcessInstanceSpec{Binary: binary, Args: args}, PortArgs: []string{"--listen,:"}}
	spec.Type = "replica"
	if binary == k.EngineBinary {
		spec.Type = "engine"
	}
	return on.Instance.InstanceCreate(k.Context(), &imrpc.InstanceCreateRequest{Spec: spec})
}

// replicaArguments returns those of an engine image of today, with the directory named as the replica.
func (k v1kit) replicaArguments(name string, o replicaOptions) []string {
	return k.replicaArgumentsIn(name, name, o)
}

// replicaArgumentsIn returns those of a replica over any directory.
func (k v1kit) replicaArgumentsIn(directory, name string, o replicaOptions) []string {
	out := []string{"--volume-name", k.volume, "replica", k.DataPath + "/" + directory, "--size",
		strconv.FormatInt(cmp.Or(o.size, k.VolumeSize), 10),
		"--disableRevCounter", "--replica-instance-name", name, "--snapshot-max-count", strconv.FormatInt(cmp.Or(o.maxCount, 250), 10),
		"--snapshot-max-size", "0", "--sync-agent-port-count", "7"}
	if o.backingFile != "" {
		out = append(out, "--backing-file", o.backingFile)
	}
	return append(out, o.more...)
}

// replica starts a replica and waits until it runs. The number makes its name and its directory.
func (k v1kit) replica(on *target.Manager, number int, o replicaOptions) process {
	name := fmt.Sprintf("%s-r-%08d", k.volume, number)
	_, err := k.create(on, name, k.ReplicaBinary, 10, k.replicaArguments(name, o)...)
	k.OK(err, "creating replica %s", name)
	return k.runs(on, name)
}

// engineArguments are those of an engine image of today.
func (k v1kit) engineArguments(name string, o engineOptions, replicas ...process) []string {
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	current := cmp.Or(o.current, o.size, k.VolumeSize)
	if o.noCurrent {
		current = 0
	}
	out := []string{"--engine-instance-name", name, "controller", k.volume, "--frontend", o.frontend, "--disableRevCounter",
		"--size", number(cmp.Or(o.size, k.VolumeSize)), "--current-size", number(current), "--engine-replica-timeout", "8",
		"--file-sync-http-client-timeout", "30", "--snapshot-max-count", number(cmp.Or(o.maxCount, 250)), "--snapshot-max-size",
		number(o.maxSize),
		"--rebuild-sync-concurrent-limit", number(max(cmp.Or(o.rebuildLimit, 1), 0))}
	out = append(out, o.more...)
	for _, r := range replicas {
		out = append(out, "--replica", "tcp://"+r.address)
	}
	return out
}

func (k v1kit) engineName(number int) string { return fmt.Sprintf("%s-e-%d", k.volume, number) }

// engine starts an engine over replicas and waits until it runs.
func (k v1kit) engine(on *target.Manager, number int, o engineOptions, replicas ...process) process {
	name := k.engineName(number)
	_, err := k.create(on, name, k.EngineBinary, 1, k.engineArguments(name, o, replicas...)...)
	k.OK(err, "creating engine %s", name)
	return k.runs(on, name)
}

// served is a volume of so many replicas on the first manager, with a frontend when there is access to its content.
func (k v1kit) served(replicas int, o engineOptions) (process, []process) {
	var all []process
	for n := range replicas {
		all = append(all, k.replica(k.Manager, n+1, replicaOptions{}))
	}
	if o.frontend == "" && k.Content != nil {
		o.frontend = k.FrontendV1
	}
	return k.engine(k.Manager, 0, o, all...), all
}

// runs waits until a process runs.
func (k v1kit) runs(on *target.Manager, name string) process {
	var seen *imrpc.InstanceResponse
	k.Eventually("process "+name+" is running", func() (bool, string) {
		var err error
		seen, err = k.get(on, name)
		if state := seen.GetStatus().GetState(); err == nil && (state == failed || state == stopped) {
			k.Fatalf("process %s is %s instead of running: %s", name, state, seen.GetStatus().GetErrorMsg())
		}
		return err == nil && seen.GetStatus().GetState() == running, describe(seen, err)
	})
	return process{name: name, on: on, uuid: seen.GetStatus().GetUuid(),
		address: net.JoinHostPort(on.Host, strconv.Itoa(int(seen.GetStatus().GetPortStart())))}
}

// ends waits until a process is in error or gone, and returns its message.
func (k v1kit) ends(on *target.Manager, name string) string {
	message := ""
	k.Eventually("process "+name+" ends", func() (bool, string) {
		seen, err := k.get(on, name)
		message = seen.GetStatus().GetErrorMsg()
		state := seen.GetStatus().GetState()
		return status.Code(err) == codes.NotFound || state == failed || state == stopped, describe(seen, err)
	})
	return message
}

func (k v1kit) get(on *target.Manager, name string) (*imrpc.InstanceResponse, error) {
	return on.Instance.InstanceGet(k.Context(), &imrpc.InstanceGetRequest{Name: name})
}

// stop deletes a process and waits until it is gone.
func (k v1kit) stop(p process) {
	k.OK(removeV1(k.Context(), p.on, p.name), "deleting %s", p.name)
}

// kill deletes a process without waiting.
func (k v1kit) kill(p process) {
	_, err := p.on.Instance.InstanceDelete(k.Context(), &imrpc.InstanceDeleteRequest{Name: p.name})
	k.OK(err, "deleting %s", p.name)
}

// removeV1 deletes a process until it is gone.
func removeV1(ctx context.Context, on *target.Manager, name string) error {
	return untilGone(ctx, on, name, &imrpc.InstanceDeleteRequest{Name: name})
}

// ref names an engine in a call of the proxy.
func (k v1kit) ref(e process) *imrpc.ProxyEngineRequest {
	return &imrpc.ProxyEngineRequest{Address: e.address, EngineName: e.name, VolumeName: k.volume}
}

// modes are the replicas' modes by address.
func (k v1kit) modes(e process) map[string]string {
	out, err := k.Manager.Proxy.ReplicaList(k.Context(), k.ref(e))
	k.OK(err, "listing the replicas of %s", e.name)
	return modesOf(out.GetReplicaList())
}

func modesOf(list *ptypes.ReplicaListReply) map[string]string {
	modes := map[string]string{}
	for _, r := range list.GetReplicas() {
		modes[r.GetAddress().GetAddress()] = r.GetMode().String()
	}
	return modes
}

// inMode waits until a replica is in a mode.
func (k v1kit) inMode(e, r process, mode string) {
	k.Eventually("replica "+r.name+" is in mode "+mode, func() (bool, string) {
		seen := k.modes(e)["tcp://"+r.address]
		return seen == mode, "mode " + seen
	})
}

// report is what VolumeGet reports.
func (k v1kit) report(e process) *ptypes.Volume {
	v, err := k.Manager.Proxy.VolumeGet(k.Context(), k.ref(e))
	k.OK(err, "reading volume %s", k.volume)
	return v.GetVolume()
}

func (k v1kit) size(e process) int64 { return k.report(e).GetSize() }

// at is the volume for Content.
func (k v1kit) at(e process) target.Volume {
	return target.Volume{Name: k.volume, Manager: e.on, Endpoint: k.report(e).GetEndpoint()}
}

// write and read go through the frontend.
func (k v1kit) write(e process, block int64, text string) { write(k.T, k.at(e), block, text) }

func (k v1kit) reads(e process, block int64, want string) { reads(k.T, k.at(e), block, want) }

// write writes a block; it must be acknowledged.
func write(t *suite.T, v target.Volume, block int64, text string) {
	ctx, cancel := context.WithTimeout(t.Context(), t.Patience)
	defer cancel()
	err := t.Content.Write(ctx, v, block, text)
	t.Require(err == nil, "writing block %d of volume %s: %v", block, v.Name, err)
}

// reads reads a block and compares it.
func reads(t *suite.T, v target.Volume, block int64, want string) {
	ctx, cancel := context.WithTimeout(t.Context(), t.Patience)
	defer cancel()
	got, err := t.Content.Read(ctx, v, block)
	t.Require(err == nil, "reading block %d of volume %s: %v", block, v.Name, err)
	t.Require(got == want, "block %d of volume %s reads %q, not %q", block, v.Name, got, want)
}

// list is a manager's inventory.
func list(t *suite.T, on *target.Manager) map[string]*imrpc.InstanceResponse {
	out, err := on.Instance.InstanceList(t.Context(), &emptypb.Empty{})
	t.OK(err, "listing the instances of %s", on.Host)
	return out.GetInstances()
}

func describe(i *imrpc.InstanceResponse, err error) string {
	if err != nil {
		return err.Error()
	}
	return "state " + i.GetStatus().GetState() + " " + i.GetStatus().GetErrorMsg()
}
