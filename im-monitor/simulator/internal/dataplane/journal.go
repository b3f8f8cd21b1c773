package dataplane

import (
	"context"
	"time"
)

// Sources of effects.
const (
	SourceWire    = "wire"
	SourceControl = "control"
	// SourcePlane is what no one asked for.
	SourcePlane = "plane"
)

// Effects of a call on what a node holds.
const (
	EffectNone        = "none"
	EffectCreated     = "created"
	EffectStopped     = "stopped"
	EffectDestroyed   = "destroyed"
	EffectReplaced    = "replaced"
	EffectServerStart = "server-started"
	EffectServerEnd   = "server-ended"
	EffectChanged     = "changed"
	// EffectStranded: the caller of a v1 ReplicaAdd disconnected before the rebuild ended.
	EffectStranded = "stranded"
)

// What is wrong with a volume's data; a correct control plane lets none of it happen, but for what is reported.
const (
	// EffectTwoEngines: an engine began while another one of the volume runs. A migration and a switch-over do that.
	EffectTwoEngines = "two-engines"
	// EffectTwoWriters: a device wrote to a replica that a newer one had written to.
	EffectTwoWriters = "two-writers"
	// EffectTwoTargets: a frontend that does not hold its I/O may send it to two engines, since the kernel prefers neither of their paths.
	EffectTwoTargets = "two-targets"
	// EffectWrongEngine: a call through a frontend went to the engine on record while the frontend's I/O goes to another one.
	EffectWrongEngine = "wrong-engine"
	// EffectMixedReplicas: replicas that differ are read as one volume.
	EffectMixedReplicas = "mixed-replicas"
	// EffectStaleOpen: an engine opened replicas that lack acknowledged writes.
	EffectStaleOpen = "stale-open"
	// EffectIslandLost: writes of an engine on a node that was partitioned are left behind; a volume that moves off such a node does
	// that.
	EffectIslandLost = "island-lost"
	// EffectDeviceLost: a node lost the device of a v2 frontend that no one asked to end. A frontend whose target ended, or that is made
	// again, does that.
	EffectDeviceLost = "device-lost"
	// EffectNewVolume: an engine opened empty replicas of a volume that had been written to; a new volume of an old name does that.
	EffectNewVolume = "new-volume"
)

// Entry is one executed call, refused ones included, or one event of a server's life.
type Entry struct {
	Serial     uint64    `json:"serial"`
	Time       time.Time `json:"time"`
	Source     string    `json:"source"`
	Node       string    `json:"node"`
	Pod        string    `json:"pod"`
	Method     string    `json:"method"`
	Name       string    `json:"name,omitempty"`
	Type       string    `json:"type,omitempty"`
	DataEngine string    `json:"dataEngine,omitempty"`
	Volume     string    `json:"volume,omitempty"`
	// UUIDAsked is what the caller sent, UUIDFound the true one of what carried the name; empty when nothing did.
	UUIDAsked string `json:"uuidAsked,omitempty"`
	UUIDFound string `json:"uuidFound,omitempty"`
	DiskUUID  string `json:"diskUUID,omitempty"`
	Cleanup   bool   `json:"cleanupRequired"`
	// Result is the answer's code, Effect what became of the instance, DataDestroyed whether a volume's data is gone with it.
	Result        string `json:"result"`
	Effect        string `json:"effect"`
	DataDestroyed bool   `json:"dataDestroyed"`
	// StateBefore is the state that the instance was in; empty when nothing carried the name.
	StateBefore string `json:"stateBefore,omitempty"`
	Message     string `json:"message,omitempty"`
}

// record appends an entry; the lock is held.
func (p *Plane) record(e Entry) {
	p.serial++
	e.Serial, e.Time = p.serial, p.clock.Now()
	p.journal = append(p.journal, e)
	close(p.grown)
	p.grown = make(chan struct{})
	if p.onRecord != nil {
		p.onRecord(e)
	}
}

// Journal returns the entries after a serial number. With none yet it waits until there is one or ctx ends.
func (p *Plane) Journal(ctx context.Context, after uint64) []Entry {
	for {
		p.mu.Lock()
		entries, grown := p.journalAfter(after), p.grown
		p.mu.Unlock()
		if len(entries) > 0 {
			return entries
		}
		select {
		case <-ctx.Done():
			return nil
		case <-grown:
		}
	}
}

// journalAfter copies the end of the journal: serial numbers are positions, counted from 1.
func (p *Plane) journalAfter(after uint64) []Entry {
	if after >= uint64(len(p.journal)) {
		return nil
	}
	return append([]Entry(nil), p.journal[after:]...)
}

// OnRecord has a function called with each entry, under the plane's lock: it must not call back. Set it before use.
func (p *Plane) OnRecord(f func(Entry)) { p.onRecord = f }
