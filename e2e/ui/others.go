package main

import (
	"context"
	"fmt"
	"strings"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"drover.dev/drover/e2e/world"
	"drover.dev/drover/shared/api/v1beta2"
)

// readRefusals sends input that the rules of the definitions refuse: the page shows their sentence.
func (p *person) readRefusals(ctx context.Context) error {
	var before, after v1beta2.VolumeList
	if err := p.world.List(ctx, &before); err != nil {
		return err
	}
	for title, refused := range map[string]struct{ name, sentence string }{
		"a volume of a name that is there is refused": {"shown", "already exists"},
		"a volume of a name that is none is refused":  {"Not_A_Name", "lower case"},
	} {
		if err := p.step(title, func() error {
			if err := p.open("volume"); err != nil {
				return err
			}
			if err := p.createVolume(refused.name, "1"); err != nil {
				return err
			}
			if err := p.waitFor("the sentence "+refused.sentence, fmt.Sprintf(
				`[...document.querySelectorAll(".ant-message-error")].some(m => m.innerText.includes(%s))`, quote(refused.sentence))); err != nil {
				return err
			}
			p.forgive("500")
			return nil
		}); err != nil {
			return err
		}
	}
	if err := p.world.List(ctx, &after); err != nil {
		return err
	}
	if len(after.Items) != len(before.Items) {
		return fmt.Errorf("there were %d volumes before what was refused, and are %d after it", len(before.Items), len(after.Items))
	}
	return nil
}

// forgive removes the lines of the console about answers with a status that a step asked for.
func (p *person) forgive(status string) {
	for _, fault := range p.takeFaults() {
		if !strings.Contains(fault, "the server responded with a status of "+status) {
			p.note("%s", fault)
		}
	}
}

// startStray starts an instance without an object, and waits for its Orphan.
func (p *person) startStray(ctx context.Context, name string) (world.Stale, error) {
	w := p.world
	manager := w.InstanceManager("node-1", v1beta2.DataEngineV1)
	running, err := w.StartInstance(ctx, world.Instance{Name: name, Type: v1beta2.InstanceTypeReplica, DataEngine: v1beta2.DataEngineV1,
		InstanceManager: manager})
	if err != nil {
		return world.Stale{}, err
	}
	stale := world.Stale{Name: name, UUID: running.UUID, Type: v1beta2.InstanceTypeReplica, DataEngine: v1beta2.DataEngineV1,
		InstanceManager: manager, Node: "node-1"}
	_, err = w.WaitOrphan(ctx, stale, patience)
	return stale, err
}

// deleteOrphan selects an orphan and deletes it: its instance ends.
func (p *person) deleteOrphan(ctx context.Context) error {
	const name = "gone-r-1a2b"
	stale, err := p.startStray(ctx, name)
	if err != nil {
		return err
	}
	if err := p.step("an orphan is shown with its instance", func() error {
		if err := p.open("orphanedData#instance"); err != nil {
			return err
		}
		return p.waitForRow(name, "node-1", stale.InstanceManager)
	}); err != nil {
		return err
	}
	return p.step("the orphan is selected and deleted, and its instance ends", func() error {
		row := fmt.Sprintf(`//div[@id="instanceOrphansTable"]//tr[@data-row-key=%q]`, stale.Orphan())
		if err := p.click(row + `//input[@type="checkbox"]/..`); err != nil {
			return err
		}
		const tab = `//div[contains(@class,"ant-tabs-tabpane-active")]`
		if err := p.click(tab + `//button[not(@disabled) and normalize-space()="Delete"]`); err != nil {
			return err
		}
		if err := p.pressIn("OK"); err != nil {
			return err
		}
		if err := p.world.WaitOrphanGone(ctx, stale.Orphan(), patience); err != nil {
			return err
		}
		if err := p.world.Gone(ctx, stale); err != nil {
			return err
		}
		return p.open("orphanedData#instance")
	})
}

// switchAutoDeletionOn changes two settings on their page; orphan-controller reports that they are in force.
func (p *person) switchAutoDeletionOn(ctx context.Context) error {
	w := p.world
	setting := func(name string) string {
		return fmt.Sprintf(`//div[contains(@class,"settings-container") and .//span[normalize-space()=%q]]//input`, name)
	}
	return p.step("auto deletion is switched on in the settings, and is in force", func() error {
		if err := p.open("setting"); err != nil {
			return err
		}
		if err := p.fill(setting("Orphan Resource Auto Deletion Grace Period:"), "60"); err != nil {
			return err
		}
		if err := p.fill(setting("Orphan Resource Auto Deletion"), "instance"); err != nil {
			return err
		}
		if err := p.press("Save"); err != nil {
			return err
		}
		return w.Wait(ctx, "the settings", patience, func(ctx context.Context) (string, error) {
			for name, want := range map[string]string{"orphan-resource-auto-deletion": "instance",
				"orphan-resource-auto-deletion-grace-period": "60"} {
				var stored v1beta2.Setting
				err := w.Get(ctx, name, &stored)
				if client.IgnoreNotFound(err) != nil || stored.Value != want || !stored.Status.Applied {
					return fmt.Sprintf("%s is %q, in force: %t", name, stored.Value, stored.Status.Applied), client.IgnoreNotFound(err)
				}
			}
			return "", nil
		})
	})
}

// changeNode switches the scheduling of a node off on the page of nodes.
func (p *person) changeNode(ctx context.Context) error {
	return p.step("scheduling of node-3 is switched off", func() error {
		if err := p.open("node"); err != nil {
			return err
		}
		if err := p.action("node-3", "Edit node and disks"); err != nil {
			return err
		}
		if err := p.click(`//div[normalize-space()="Node Scheduling"]/following::label[normalize-space()="Disable"][1]`); err != nil {
			return err
		}
		if err := p.pressIn("Save"); err != nil {
			return err
		}
		return p.world.Wait(ctx, "node-3 without scheduling", patience, func(ctx context.Context) (string, error) {
			var node v1beta2.Node
			if err := p.world.Get(ctx, "node-3", &node); err != nil || !node.Spec.AllowScheduling {
				return "", err
			}
			return "it allows scheduling", nil
		})
	})
}
