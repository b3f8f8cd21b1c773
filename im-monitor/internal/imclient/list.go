package imclient

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"
	"unique"

	"google.golang.org/protobuf/types/known/emptypb"

	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/shared/api/v1beta2"
)

// maxTextBytes bounds what is kept of a server's prose.
const maxTextBytes = 1 << 10

// List reads one whole list. InstanceList comes first; SPDK is asked only for what the list leaves open: the identity and disk of v2
// replicas, and what v2 engines map.
func (c *Conn) List(ctx context.Context, cause Cause, previous Known) (map[string]Instance, error) {
	c.options.Metrics.lists.WithLabelValues(string(cause)).Inc()
	instances, err := c.instanceList(ctx)
	if err != nil {
		return nil, err
	}
	if c.spdk == nil {
		return instances, nil
	}
	open := carryOver(instances, previous)
	if open.replicas {
		if err := c.joinReplicas(ctx, instances); err != nil {
			return nil, err
		}
	}
	if open.engines {
		if err := c.joinEngines(ctx, instances); err != nil {
			return nil, err
		}
	}
	return instances, nil
}

// instanceList is what InstanceList alone reports.
func (c *Conn) instanceList(ctx context.Context) (map[string]Instance, error) {
	ctx, cancel := c.listContext(ctx)
	defer cancel()
	answer, err := imrpc.NewInstanceServiceClient(c.instances).InstanceList(ctx, &emptypb.Empty{})
	if err != nil {
		return nil, c.failed(ctx, "InstanceList", err)
	}
	instances, err := convertList(answer)
	if err != nil {
		return nil, &CallError{Method: "InstanceList", Address: c.address, Kind: ErrMalformed, Err: err}
	}
	return instances, nil
}

// convertList converts a list to values by name. One entry that contradicts itself makes the list worthless: nothing may be concluded from
// it.
func convertList(answer *imrpc.InstanceListResponse) (map[string]Instance, error) {
	instances := make(map[string]Instance, len(answer.GetInstances()))
	for name, entry := range answer.GetInstances() {
		if reported := entry.GetSpec().GetName(); name == "" || reported != "" && reported != name {
			return nil, fmt.Errorf("instance %.100q is listed under the name %.100q", reported, name)
		}
		if uuid := entry.GetStatus().GetUuid(); strings.ContainsFunc(uuid, notPrinted) {
			return nil, fmt.Errorf("the UUID %.100q of instance %.100q is none", uuid, name)
		}
		instances[name] = convert(name, entry)
	}
	return instances, nil
}

// notPrinted reports what no UUID contains; a garbled one must not be taken for another instance.
func notPrinted(r rune) bool { return r <= ' ' || r > '~' }

// convert converts one entry to a value that keeps nothing of the message but its strings.
func convert(name string, entry *imrpc.InstanceResponse) Instance {
	spec, status := entry.GetSpec(), entry.GetStatus()
	instance := Instance{
		Name:            name,
		Type:            intern(spec.GetType()),
		DataEngine:      engineName(spec.GetDataEngine()),
		State:           intern(status.GetState()),
		UUID:            status.GetUuid(),
		ErrorMsg:        inWords(status.GetErrorMsg()),
		Endpoint:        cut(status.GetEndpoint()),
		PortStart:       status.GetPortStart(),
		PortEnd:         status.GetPortEnd(),
		TargetPortStart: status.GetTargetPortStart(),
		TargetPortEnd:   status.GetTargetPortEnd(),
		Frontend:        frontendOf(spec, status),
	}
	if instance.UUID != "" {
		instance.UUIDSource = UUIDFromInstanceStatus
	}
	if instance.DataEngine == v1beta2.DataEngineV1 {
		instance.Type = typeOfProcess(instance)
	}
	return instance
}

// typeOfProcess is what a v1 instance is by its name, where that has the form of one: a v1 server takes every name with "-e-" in it for an
// engine's, also that of a replica of a volume whose own name has it. No name has both forms.
func typeOfProcess(i Instance) string {
	switch {
	case i.Type != v1beta2.InstanceTypeReplica && v1beta2.VolumeOfReplicaName(i.Name) != "":
		return v1beta2.InstanceTypeReplica
	case i.Type != v1beta2.InstanceTypeEngine && v1beta2.VolumeOfEngineName(i.Name) != "":
		return v1beta2.InstanceTypeEngine
	}
	return i.Type
}

// engineName is the CRs' word for a data engine; a value that the wire does not define stays a number.
func engineName(engine imrpc.DataEngine) string {
	switch engine {
	case imrpc.DataEngine_DATA_ENGINE_V1:
		return v1beta2.DataEngineV1
	case imrpc.DataEngine_DATA_ENGINE_V2:
		return v1beta2.DataEngineV2
	default:
		return strconv.Itoa(int(engine))
	}
}

// questions are what a list leaves open for SPDK to answer.
type questions struct{ replicas, engines bool }

// carryOver fills in the disks of v2 replicas whose identity the list reports and the previous one knew already, and reports what is
// still open.
func carryOver(instances map[string]Instance, previous Known) questions {
	var open questions
	if previous == nil {
		previous = func(string) (Instance, bool) { return Instance{}, false }
	}
	for name, instance := range instances {
		switch {
		case instance.DataEngine != v1beta2.DataEngineV2:
		case instance.Type == v1beta2.InstanceTypeEngine:
			open.engines = true
		case instance.Type == v1beta2.InstanceTypeReplica:
			known, ok := previous(name)
			if !ok || instance.UUID == "" || known.UUID != instance.UUID || known.DiskUUID == "" {
				open.replicas = true
				continue
			}
			instance.DiskUUID = known.DiskUUID
			instances[name] = instance
		}
	}
	return open
}

// joinReplicas adds identity and disk to v2 replicas. A replica that SPDK does not list keeps what it has.
func (c *Conn) joinReplicas(ctx context.Context, instances map[string]Instance) error {
	ctx, cancel := c.listContext(ctx)
	defer cancel()
	answer, err := c.spdkClient().ReplicaList(ctx, &emptypb.Empty{})
	if err != nil {
		return callError(ctx, "ReplicaList", c.address, err)
	}
	for name, replica := range answer.GetReplicas() {
		instance, ok := instances[name]
		if !ok || instance.DataEngine != v1beta2.DataEngineV2 || instance.Type != v1beta2.InstanceTypeReplica {
			continue
		}
		instance.DiskUUID = unique.Make(replica.GetLvsUuid()).Value()
		if head := replica.GetHead().GetUuid(); instance.UUID == "" && head != "" {
			instance.UUID, instance.UUIDSource = head, UUIDFromHeadLvol
		}
		instances[name] = instance
	}
	return nil
}

// joinEngines adds what v2 engines map.
func (c *Conn) joinEngines(ctx context.Context, instances map[string]Instance) error {
	ctx, cancel := c.listContext(ctx)
	defer cancel()
	answer, err := c.spdkClient().EngineList(ctx, &emptypb.Empty{})
	if err != nil {
		return callError(ctx, "EngineList", c.address, err)
	}
	for name, engine := range answer.GetEngines() {
		instance, ok := instances[name]
		if !ok || instance.DataEngine != v1beta2.DataEngineV2 || instance.Type != v1beta2.InstanceTypeEngine {
			continue
		}
		instance.Replicas = engine.GetReplicaAddressMap()
		if instance.Replicas == nil {
			instance.Replicas = map[string]string{}
		}
		instances[name] = instance
	}
	return nil
}

// words are the types and states that nearly every entry carries; interning them saves two strings per instance.
var words = func() map[string]string {
	all := map[string]string{}
	for _, word := range []string{
		v1beta2.InstanceTypeEngine, v1beta2.InstanceTypeReplica, v1beta2.InstanceTypeEngineFrontend,
		v1beta2.InstanceStateRunning, v1beta2.InstanceStateStarting, v1beta2.InstanceStateStopping, v1beta2.InstanceStateStopped,
		v1beta2.InstanceStateError, v1beta2.InstanceStatePending, v1beta2.InstanceStateTerminating, v1beta2.InstanceStateSuspended,
	} {
		all[word] = word
	}
	return all
}()

// intern returns the shared copy of a known word, else the word cut.
func intern(word string) string {
	if shared, ok := words[word]; ok {
		return shared
	}
	return cut(word)
}

// cut bounds a text without splitting a character.
func cut(text string) string {
	if len(text) <= maxTextBytes {
		return text
	}
	end := maxTextBytes
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return strings.Clone(text[:end])
}
