package imclient

import (
	"context"
	"fmt"
)

// Client is everything that is asked of one instance manager over one connection. Conn is one; tests have scripted ones.
type Client interface {
	// Version reports the server's API versions; ErrUnsupported when they do not meet ours.
	Version(ctx context.Context) (Version, error)
	// Watch opens the stream of change notices.
	Watch(ctx context.Context) (Watch, error)
	// List reads the whole list of instances by name, for v2 joined with what SPDK knows. previous may be nil; what it reports about the
	// same (name, UUID) on the same connection is not asked for again.
	List(ctx context.Context, cause Cause, previous Known) (map[string]Instance, error)
	// Create asks the server to make one instance, and may take minutes. Its success proves nothing about presence.
	Create(ctx context.Context, request CreateRequest) error
	// SwitchOver asks for one phase of a frontend's move to another target.
	SwitchOver(ctx context.Context, request SwitchOverRequest) error
	// Suspend asks a frontend to hold all I/O, Resume to let it continue. Each may be repeated.
	Suspend(ctx context.Context, name string) error
	Resume(ctx context.Context, name string) error
	// SetANAState sets the state of the path to an engine of this server for every initiator.
	SetANAState(ctx context.Context, engine, state string) error
	// SetLogs asks the server what to log.
	SetLogs(ctx context.Context, logs Logs) error
	// Delete asks the server to delete one instance. Its success proves nothing about absence.
	Delete(ctx context.Context, request DeleteRequest) error
	// Close ends the connection and every call on it.
	Close() error
}

// Known is what the list before reported about a name; false where it lacked it.
type Known func(name string) (Instance, bool)

// Watch is an open stream of change notices.
type Watch interface {
	// Next blocks until something changed; an error ends the stream.
	Next() error
}

// Cause reports why a list is read; it is the label of a metric.
type Cause string

// The causes of a list.
const (
	CauseEvent     Cause = "event"     // a notice on the watch stream
	CauseReconnect Cause = "reconnect" // the first list of a connection
	CauseSafety    Cause = "safety"    // the slow timer
	CauseFresh     Cause = "fresh"     // somebody needs a list newer than now
	CauseFollowUp  Cause = "follow-up" // something vanished, or a v2 server may still be rediscovering
)

// UUIDSource reports where the UUID of an instance was read.
type UUIDSource string

// The sources of a UUID.
const (
	UUIDUnknown            UUIDSource = ""               // there is no UUID
	UUIDFromInstanceStatus UUIDSource = "InstanceStatus" // the instance's own status
	UUIDFromHeadLvol       UUIDSource = "HeadLvol"       // the head lvol in the SPDK inventory, where a server leaves its status empty
)

// Instance is one entry of a whole list. It is a value: maps in it are shared and never modified.
type Instance struct {
	// Name is the key of the list.
	Name string
	// Type is engine, replica or engine-frontend, or whatever else the server reported; never evaluated unless known.
	Type string
	// DataEngine is v1 or v2; a value that the wire does not define is kept as text.
	DataEngine string
	// State is the server's own word, kept as it is.
	State string
	// UUID is the runtime identity; empty when neither the status nor SPDK reports one.
	UUID string
	// UUIDSource reports where UUID was read.
	UUIDSource UUIDSource
	// DiskUUID is the lvstore's UUID of a v2 replica; empty is unknown.
	DiskUUID string
	// ErrorMsg is the server's text, cut at 1 KiB.
	ErrorMsg string
	// Endpoint is where a frontend is to be found.
	Endpoint string
	// Ports of the instance; 0 is none.
	PortStart, PortEnd, TargetPortStart, TargetPortEnd int32
	// Replicas are the replica addresses (ip:port) by name that a v2 engine maps; nil for everything else, and for an engine that SPDK does
	// not list.
	Replicas map[string]string
	// Frontend is nil for everything but an engine-frontend.
	Frontend *Frontend
}

// DeleteRequest names the one instance that must go, and how.
type DeleteRequest struct {
	Name, Type, DataEngine string
	// UUID is compared by conforming servers; it is empty only with ByName.
	UUID string
	// ByName vouches that an object claims this name at this server, so that whatever carries it is meant: engine-frontends have no UUID,
	// and today's servers report none of v2 engines.
	ByName bool
	// DiskUUID is the lvstore of a v2 replica.
	DiskUUID string
	// CleanupRequired also destroys a v2 replica's data; v2 engines need it to go at all.
	CleanupRequired bool
}

// Version is what a server reports about itself.
type Version struct {
	Version, GitCommit                                             string
	APIVersion, APIMinVersion, ProxyAPIVersion, ProxyAPIMinVersion int64
}

// The versions of the instance-manager API that this client speaks.
const (
	APIVersion    = 7
	APIMinVersion = 1
)

// Check is nil when this client and the server understand each other; the error names both.
func (v Version) Check() error {
	if v.APIVersion < APIMinVersion || v.APIMinVersion > APIVersion {
		return fmt.Errorf("%w: the server %q speaks API versions %d to %d, this client %d to %d",
			ErrUnsupported, v.Version, v.APIMinVersion, v.APIVersion, APIMinVersion, APIVersion)
	}
	return nil
}
