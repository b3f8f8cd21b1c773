package controller

import (
	"context"
	"fmt"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/orphan-controller/internal/orphan"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/status"
)

// Owner is the field manager of everything that this binary writes.
const Owner = "orphan-controller"

// apply does the one write of a verdict, bound to the version that was evaluated. An orphan that no longer exists is no error.
func apply(ctx context.Context, c client.Client, o *v1beta2.Orphan, v orphan.Verdict) error {
	var err error
	switch v.Step {
	case orphan.StepNone:
	case orphan.StepConditions:
		err = status.Apply(ctx, c, o, Owner, map[string]any{"conditions": status.ConditionsField(v.Conditions)}, status.AtVersion())
	case orphan.StepDelete:
		err = status.Delete(ctx, c, o)
	case orphan.StepDropFinalizer:
		err = status.DropFinalizer(ctx, c, o, v1beta2.Finalizer)
	default:
		err = fmt.Errorf("unknown step %q", v.Step)
	}
	return err
}
