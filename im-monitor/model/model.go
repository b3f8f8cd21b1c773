// Package model lets the model test of the approve/execute protocol drive im-monitor's real evaluation. It re-exports the
// pure package orphan and adds nothing; only the model test may import it.
package model

import (
	"drover.dev/drover/im-monitor/internal/mapping"
	"drover.dev/drover/im-monitor/internal/orphan"
)

// What is evaluated.
type (
	Key       = orphan.Key
	World     = orphan.World
	Rules     = orphan.Rules
	Manager   = orphan.Manager
	Node      = orphan.Node
	Disk      = orphan.Disk
	Inventory = orphan.Inventory
	Instance  = orphan.Instance
	Claim     = orphan.Claim
	Orphan    = orphan.Orphan
	Failure   = orphan.Failure
)

// What follows.
type (
	Verdict       = orphan.Verdict
	Evaluation    = orphan.Evaluation
	OrphanVerdict = orphan.OrphanVerdict
	Creation      = orphan.Creation
)

// The input of the check right before a call.
type (
	CallWorld    = orphan.CallWorld
	Call         = orphan.Call
	EngineObject = mapping.Engine
	Place        = mapping.Place
	Copies       = orphan.Copies
)

// The sources of a UUID.
const (
	SourceInstanceStatus = orphan.SourceInstanceStatus
	SourceHeadLvol       = orphan.SourceHeadLvol
)

// Evaluate decides about one key.
func Evaluate(w World) Verdict { return orphan.Evaluate(w) }

// DecideCall has the last word before a deletion.
func DecideCall(c CallWorld, v Verdict) Call { return orphan.DecideCall(c, v) }
