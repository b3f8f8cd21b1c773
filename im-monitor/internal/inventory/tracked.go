package inventory

import (
	"context"
	"time"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/shared/api/v1beta2"
)

// tracked is the connection that the inventory returns. It notifies the member of each creation and deletion of a v2 replica, since a
// server drops a list that it was building meanwhile.
type tracked struct {
	imclient.Client
	member *member
}

// track wraps a connection of a v2 server; v1 lists are complete at any time.
func track(client imclient.Client, m *member, dataEngine string) imclient.Client {
	if dataEngine != v1beta2.DataEngineV2 {
		return client
	}
	return &tracked{Client: client, member: m}
}

// Create implements imclient.Client.
func (t *tracked) Create(ctx context.Context, request imclient.CreateRequest) error {
	return t.during(request.Type, request.Name, func() error { return t.Client.Create(ctx, request) })
}

// Delete implements imclient.Client.
func (t *tracked) Delete(ctx context.Context, request imclient.DeleteRequest) error {
	return t.during(request.Type, request.Name, func() error { return t.Client.Delete(ctx, request) })
}

func (t *tracked) during(instanceType, name string, call func() error) error {
	if !onDisk(instanceType) {
		return call()
	}
	return t.member.during(name, call)
}

// during makes a call that changes a replica. What was asked about it before is void; one that was not answered may be executed later.
func (m *member) during(name string, call func() error) error {
	m.mu.Lock()
	server := m.target.server()
	m.settling.calls.open++
	m.settling.seen(func(asked string) bool { return asked == name })
	m.mu.Unlock()
	err := call()
	m.mu.Lock()
	defer m.mu.Unlock()
	if server != m.target.server() { // the server that may have executed it runs no more
		return err
	}
	now := m.inventory.config.Clock.Now()
	m.settling.calls.open--
	m.settling.calls.ended = now
	if silent(err) {
		m.settling.calls.possible = later(m.settling.calls.possible, now.Add(m.inventory.config.CallPatience))
	}
	nudge(m.probeRequeue)
	return err
}

// QuietFrom implements Store.
func (i *Inventory) QuietFrom(instanceManager string) time.Time {
	m, ok := i.member(instanceManager)
	if !ok {
		return time.Time{}
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.settling.calls.quietFrom(i.config.Clock.Now(), m.settling.quiet)
}

// AskDisk implements Store.
func (i *Inventory) AskDisk(ctx context.Context, instanceManager string, query imclient.DiskQuery) (imclient.Disk, error) {
	target, ok := i.Target(instanceManager)
	if !ok {
		return imclient.Disk{}, unreachable(instanceManager, errNotSet)
	}
	return i.Disk(ctx, target.Address, query)
}

// DiskReplicas implements Store.
func (i *Inventory) DiskReplicas(ctx context.Context, instanceManager string, disk imclient.DiskRef) (map[string]imclient.DiskReplica,
	error) {
	target, ok := i.Target(instanceManager)
	if !ok {
		return nil, unreachable(instanceManager, errNotSet)
	}
	return i.config.ListReplicas(ctx, target.Address, disk)
}

// DeleteReplicaData implements Store. The inventory knows of the call, so that it believes no list that is read meanwhile.
func (i *Inventory) DeleteReplicaData(ctx context.Context, instanceManager string, disk imclient.DiskRef, replica string) error {
	m, ok := i.member(instanceManager)
	if !ok {
		return unreachable(instanceManager, errNotSet)
	}
	m.mu.Lock()
	address := m.target.Address
	m.mu.Unlock()
	return m.during(replica, func() error { return i.config.DeleteReplica(ctx, address, disk, replica) })
}
