package world

import (
	"context"
	"fmt"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/shared/api/v1beta2"
)

// ImageSetting names the image that upgrades freeze.
const ImageSetting = "default-instance-manager-image"

// Upgrade writes the image into the setting, and creates an upgrade as a person does. change may be nil.
func (w *World) Upgrade(ctx context.Context, name, image string, change func(*v1beta2.DataEngineUpgradeManagerSpec)) error {
	if err := w.Set(ctx, ImageSetting, image); err != nil {
		return err
	}
	m := &v1beta2.DataEngineUpgradeManager{}
	m.Name, m.Namespace, m.Spec.DataEngine = name, w.Namespace, v1beta2.DataEngineV2
	if change != nil {
		change(&m.Spec)
	}
	if err := w.Admin.Create(ctx, m); err != nil {
		return fmt.Errorf("creating upgrade %s: %w", name, err)
	}
	return nil
}

// WaitUpgrade waits until the whole upgrade is in one of the states. The error after a timeout has the status of each node's upgrade.
func (w *World) WaitUpgrade(ctx context.Context, name string, within time.Duration, states ...string) (*v1beta2.DataEngineUpgradeManager,
	error) {
	found := &v1beta2.DataEngineUpgradeManager{}
	err := w.Wait(ctx, fmt.Sprintf("upgrade %s to be one of %v", name, states), within, func(ctx context.Context) (string, error) {
		if err := w.Get(ctx, name, found); err != nil || slices.Contains(states, found.Status.State) {
			return "", err
		}
		return formatUpgrade(found), nil
	})
	return found, w.withNodeUpgrades(ctx, err)
}

func formatUpgrade(m *v1beta2.DataEngineUpgradeManager) string {
	return fmt.Sprintf("it is %s: %s %s", m.Status.State, m.Status.ErrorMessage, FormatConditions(m.Status.Conditions))
}

// withNodeUpgrades adds the status of each node's upgrade to the error of a wait.
func (w *World) withNodeUpgrades(ctx context.Context, failed error) error {
	if failed == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), explainTime)
	defer cancel()
	var nodes v1beta2.NodeDataEngineUpgradeList
	if err := w.List(ctx, &nodes); err != nil {
		return fmt.Errorf("%w; %w", failed, err)
	}
	text := ""
	for _, u := range nodes.Items {
		text += fmt.Sprintf("\n%s is %s: %s %v", u.Name, u.Status.State, FormatConditions(u.Status.Conditions), u.Status.Volumes)
	}
	return fmt.Errorf("%w%s", failed, text)
}

// NodeUpgrade is the name of the upgrade of a node.
func NodeUpgrade(upgrade, node string) string { return upgrade + "-" + node }

// WaitNodeUpgrade waits until check, which returns what is missing, returns "" for the upgrade of a node.
func (w *World) WaitNodeUpgrade(ctx context.Context, upgrade, node, what string, within time.Duration,
	check func(*v1beta2.NodeDataEngineUpgrade) string) error {
	name := NodeUpgrade(upgrade, node)
	return w.Wait(ctx, "upgrade "+name+" "+what, within, func(ctx context.Context) (string, error) {
		u := &v1beta2.NodeDataEngineUpgrade{}
		if err := w.Get(ctx, name, u); err != nil {
			return "", err
		}
		if why := check(u); why != "" {
			return fmt.Sprintf("%s; it is %q: %s %v", why, u.Status.State, FormatConditions(u.Status.Conditions), u.Status.Volumes), nil
		}
		return "", nil
	})
}

// WaitNodeUpgradeState waits until the upgrade of a node is in one of the states.
func (w *World) WaitNodeUpgradeState(ctx context.Context, upgrade, node string, within time.Duration, states ...string) error {
	return w.WaitNodeUpgrade(ctx, upgrade, node, fmt.Sprintf("to be one of %v", states), within,
		func(u *v1beta2.NodeDataEngineUpgrade) string {
			return unless(slices.Contains(states, u.Status.State), "it is not")
		})
}

// ChangeUpgrade changes fields of the upgrade's spec, as a person does who resumes, pauses or aborts it.
func (w *World) ChangeUpgrade(ctx context.Context, name string, fields map[string]any) error {
	m := &v1beta2.DataEngineUpgradeManager{}
	m.Name, m.Namespace = name, w.Namespace
	return w.patch(ctx, m, map[string]any{"spec": fields})
}

// sweepUpgrades ends every upgrade, and returns the nodes to the default image once no instance runs there.
func (w *World) sweepUpgrades(ctx context.Context) error {
	if err := w.Admin.DeleteAllOf(ctx, &v1beta2.DataEngineUpgradeManager{}, client.InNamespace(w.Namespace)); err != nil {
		return fmt.Errorf("deleting all upgrades: %w", err)
	}
	err := w.Wait(ctx, "the end of all upgrades", time.Minute, func(ctx context.Context) (string, error) {
		var plans v1beta2.DataEngineUpgradeManagerList
		var nodes v1beta2.NodeDataEngineUpgradeList
		if err := w.List(ctx, &plans); err != nil {
			return "", err
		}
		if err := w.List(ctx, &nodes); err != nil {
			return "", err
		}
		if len(plans.Items) > 0 {
			return plans.Items[0].Name + " is left: " + formatUpgrade(&plans.Items[0]), nil
		}
		return unless(len(nodes.Items) == 0, "%d upgrades of nodes are left", len(nodes.Items)), nil
	})
	if err != nil {
		return w.withNodeUpgrades(ctx, err)
	}
	return w.Set(ctx, ImageSetting, Image)
}
