//go:build !fast

package scenarios

import (
	"context"
	"fmt"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/e2e/record"
	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// nothingLive names an instance of the volumes that holds resources, if any.
func (s *Scene) nothingLive(volumes ...*world.Volume) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		for _, v := range volumes {
			listed, err := s.Inventory(ctx, s.InstanceManager(Near, v.DataEngine))
			if err != nil {
				return "", err
			}
			for name, r := range listed {
				if strings.HasPrefix(name, v.Name+"-") && r.State != v1beta2.InstanceStateStopped {
					return name + " is " + r.State, nil
				}
			}
		}
		return "", nil
	}
}

// goneWhy returns a text while the instance is listed.
func (s *Scene) goneWhy(stale world.Stale) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		if err := s.Gone(ctx, stale); err != nil {
			return err.Error(), nil
		}
		return "", nil
	}
}

// allGone returns the number of the instances that are still listed, as a text.
func (s *Scene) allGone(stale []world.Stale) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		left := 0
		inventories := map[string]map[string]world.Running{}
		for _, instance := range stale {
			listed, ok := inventories[instance.InstanceManager]
			if !ok {
				var err error
				if listed, err = s.Inventory(ctx, instance.InstanceManager); err != nil {
					return "", err
				}
				inventories[instance.InstanceManager] = listed
			}
			if listed[instance.Name].UUID == instance.UUID {
				left++
			}
		}
		if left == 0 {
			return "", nil
		}
		return fmt.Sprintf("%d of %d are left", left, len(stale)), nil
	}
}

// settingGone returns a text while the setting exists.
func (s *Scene) settingGone(name string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		err := s.Get(ctx, name, &v1beta2.Setting{})
		if err == nil {
			return name + " is still there", nil
		}
		return "", client.IgnoreNotFound(err)
	}
}

// orphanThere returns a text when the Orphan is gone or being deleted.
func (s *Scene) orphanThere(name string) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		o := &v1beta2.Orphan{}
		if err := s.Get(ctx, name, o); err != nil {
			return err.Error(), nil
		}
		if o.DeletionTimestamp != nil {
			return "it is being deleted", nil
		}
		return "", nil
	}
}

// lostOrphan names an instance without an Orphan, or with a withdrawn one.
func (s *Scene) lostOrphan(stale []world.Stale) func(context.Context) (string, error) {
	return func(ctx context.Context) (string, error) {
		for _, instance := range stale {
			o := &v1beta2.Orphan{}
			if err := s.Get(ctx, instance.Orphan(), o); err != nil {
				return err.Error(), nil
			}
			if conditions.IsTrue(o.Status.Conditions, v1beta2.OrphanWithdrawn) {
				return "the orphan of " + instance.Name + " was withdrawn: " + world.FormatConditions(o.Status.Conditions), nil
			}
		}
		return "", nil
	}
}

// noise lists the writes and calls of the controllers.
func (s *Scene) noise(context.Context) (string, error) {
	writes := s.API.Counts().Lines(func(r record.Request) bool { return r.Kind == record.KindWrite })
	calls := s.DataPlane.Counts().Lines(func(m record.Method) bool { return !m.Stream })
	return strings.Join(append(writes, calls...), "; "), nil
}

// items are those of a semicolon list, without blanks.
func items(list string) []string {
	var out []string
	for item := range strings.SplitSeq(list, ";") {
		if item = strings.TrimSpace(item); item != "" {
			out = append(out, item)
		}
	}
	return out
}
