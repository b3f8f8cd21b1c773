// Package model exports the policy of orphans to the repository's model test of the approve/execute protocol
// (e2e/model), the only package that may import it. It adds nothing: the test runs the functions of the product.
package model

import "drover.dev/drover/orphan-controller/internal/orphan"

// The types of one decision.
type (
	World        = orphan.World
	Copy         = orphan.Copy
	Sibling      = orphan.Sibling
	Settings     = orphan.Settings
	AutoDeletion = orphan.AutoDeletion
	Limits       = orphan.Limits
	Verdict      = orphan.Verdict
	Step         = orphan.Step
)

// The steps of a verdict and the values of the setting.
const (
	StepNone          = orphan.StepNone
	StepConditions    = orphan.StepConditions
	StepDelete        = orphan.StepDelete
	StepDropFinalizer = orphan.StepDropFinalizer

	Off        = orphan.Off
	On         = orphan.On
	Unreadable = orphan.Unreadable
)

// Decide returns what becomes of an orphan.
func Decide(w World) Verdict { return orphan.Decide(w) }

// DefaultLimits are the default limits of the policies.
func DefaultLimits() Limits { return orphan.DefaultLimits() }
