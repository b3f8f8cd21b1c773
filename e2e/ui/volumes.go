package main

import (
	"context"
	"fmt"
	"time"

	"github.com/chromedp/chromedp"

	"drover.dev/drover/shared/api/v1beta2"
)

const gi = int64(1) << 30

// openMenu is the XPath of the menu that is open.
const openMenu = `//div[contains(@class,"ant-dropdown") and not(contains(@class,"ant-dropdown-hidden"))]`

// action picks an entry of the menu in the row of an object.
func (p *person) action(object, entry string) error {
	if err := p.click(fmt.Sprintf(`//tr[@data-row-key=%q]//button[contains(@class,"ant-dropdown-trigger")]`, object)); err != nil {
		return err
	}
	return p.click(fmt.Sprintf(openMenu+`//li[not(contains(@class,"disabled")) and normalize-space()=%q]`, entry))
}

// field is the XPath of the input with a label in the window that is in front.
func field(label, element string) string {
	return fmt.Sprintf(`//div[contains(@class,"ant-modal-wrap") and not(contains(@style,"display: none"))]`+
		`//div[contains(@class,"ant-form-item") and .//label[normalize-space()=%q or @title=%q]]//%s`, label, label, element)
}

// createVolume fills in the form of a new volume.
func (p *person) createVolume(name, size string) error {
	if err := p.press("Create Volume"); err != nil {
		return err
	}
	if err := p.fill(field("Name", "input"), name); err != nil {
		return err
	}
	if err := p.fill(field("Size", "input"), size); err != nil {
		return err
	}
	return p.pressIn("OK")
}

// useVolume takes a volume through its life: created, attached, expanded, with a snapshot that comes and goes, detached, deleted.
func (p *person) useVolume(ctx context.Context) error {
	const name = "made"
	on := func(do func(ctx context.Context, volume string) error) func() error {
		return func() error { return do(ctx, name) }
	}
	return p.inOrder(
		step{"a volume is created", on(p.create)},
		step{"it is attached to node-2", on(p.attach)},
		step{"it is expanded to 2 Gi", on(p.expand)},
		step{"a snapshot is taken on its page", on(p.takeSnapshot)},
		step{"another one is taken, and the first is deleted there", on(p.deleteSnapshot)},
		step{"it is detached", on(p.detach)},
		step{"it is deleted", on(p.delete)},
	)
}

// create creates a volume of 1 Gi with the form.
func (p *person) create(ctx context.Context, name string) error {
	if err := p.open("volume"); err != nil {
		return err
	}
	if err := p.createVolume(name, "1"); err != nil {
		return err
	}
	if err := p.waitForRow(name, "detached", "1 Gi"); err != nil {
		return err
	}
	return p.world.WaitVolume(ctx, name, "as the form has it", patience, func(v *v1beta2.Volume) string {
		if v.Spec.Size != gi || v.Spec.NumberOfReplicas != 3 || v.Spec.Frontend != "blockdev" {
			return fmt.Sprintf("its spec is %+v", v.Spec)
		}
		return ""
	})
}

// attach attaches a volume to node-2.
func (p *person) attach(ctx context.Context, name string) error {
	if err := p.action(name, "Attach"); err != nil {
		return err
	}
	if err := p.choose(field("Host", `div[contains(@class,"ant-select-selection")]`), "node-2"); err != nil {
		return err
	}
	if err := p.pressIn("OK"); err != nil {
		return err
	}
	if err := p.world.WaitAttached(ctx, name, "node-2", patience); err != nil {
		return err
	}
	return p.waitForRow(name, "healthy")
}

// expand expands a volume to 2 Gi.
func (p *person) expand(ctx context.Context, name string) error {
	if err := p.action(name, "Expand Volume"); err != nil {
		return err
	}
	if err := p.fill(field("Size", "input"), "2"); err != nil {
		return err
	}
	if err := p.pressIn("OK"); err != nil {
		return err
	}
	if err := p.world.WaitGrown(ctx, name, 2*gi, patience); err != nil {
		return err
	}
	return p.waitForRow(name, "2 Gi")
}

// detach detaches a volume.
func (p *person) detach(ctx context.Context, name string) error {
	if err := p.open("volume"); err != nil {
		return err
	}
	if err := p.action(name, "Detach"); err != nil {
		return err
	}
	if err := p.pressIn("OK"); err != nil {
		return err
	}
	if err := p.world.WaitDetached(ctx, name, patience); err != nil {
		return err
	}
	return p.waitForRow(name, "detached")
}

// delete deletes a volume.
func (p *person) delete(ctx context.Context, name string) error {
	if err := p.action(name, "Delete"); err != nil {
		return err
	}
	if err := p.pressIn("Delete"); err != nil {
		return err
	}
	if err := p.world.WaitVolumeGone(ctx, name, patience); err != nil {
		return err
	}
	return p.waitForNoRow(name)
}

// takeSnapshot takes a snapshot on the page of a volume.
func (p *person) takeSnapshot(ctx context.Context, volume string) error {
	if err := p.open("volume/" + volume); err != nil {
		return err
	}
	if err := p.press("Take Snapshot"); err != nil {
		return err
	}
	if err := p.world.Wait(ctx, "a snapshot of "+volume, patience, func(ctx context.Context) (string, error) {
		found, err := p.world.SnapshotsOf(ctx, volume)
		if err == nil && len(found) != 1 {
			return fmt.Sprintf("it has %d", len(found)), nil
		}
		return "", err
	}); err != nil {
		return err
	}
	name, err := p.snapshotOf(ctx, volume)
	if err != nil {
		return err
	}
	return p.waitForText(name[:8]) // of the name the page shows that much
}

// snapshotOf returns the name of the one Snapshot of a volume.
func (p *person) snapshotOf(ctx context.Context, volume string) (string, error) {
	found, err := p.world.SnapshotsOf(ctx, volume)
	if err != nil {
		return "", err
	}
	for name := range found {
		return name, nil
	}
	return "", fmt.Errorf("volume %s has no snapshot", volume)
}

// deleteSnapshot deletes the one snapshot of a volume in the tree on its page, once there is a newer one: an engine merges a snapshot only
// into a newer one.
func (p *person) deleteSnapshot(ctx context.Context, volume string) error {
	name, err := p.snapshotOf(ctx, volume)
	if err != nil {
		return err
	}
	if err := p.press("Take Snapshot"); err != nil {
		return err
	}
	if err := p.waitFor("two snapshots", `document.querySelectorAll(".tree-snapshot-icon").length == 2`); err != nil {
		return err
	}
	// The tree is drawn again every few seconds, which closes the menu: the snapshot is clicked until the entry is there.
	if err := p.do("choosing Delete in the menu of the snapshot", ignore(chromedp.Poll[bool](`(() => {
		const entry = [...document.querySelectorAll(".lh-snapshot-dropdown li")].find(e => e.innerText.trim() == "Delete" && e.offsetParent)
		;(entry || document.querySelector(".tree-snapshot-icon"))?.click()
		return !!entry })()`, chromedp.WithPollingInterval(300*time.Millisecond), chromedp.WithPollingTimeout(0)))); err != nil {
		return err
	}
	if err := p.world.WaitSnapshotGone(ctx, name, patience); err != nil {
		return err
	}
	return p.waitFor("a tree without the snapshot", fmt.Sprintf(`!document.body.innerText.includes(%s)`, quote(name[:8])))
}

// followChanges changes objects as kubectl does, while the list of volumes is open and is not loaded again.
func (p *person) followChanges(ctx context.Context) error {
	const name = "by-kubectl"
	w := p.world
	return p.inOrder(
		step{"a volume that kubectl creates appears", func() error {
			if err := p.open("volume"); err != nil {
				return err
			}
			if err := p.waitForRow("shown"); err != nil {
				return err
			}
			if err := w.Order(ctx, name, v1beta2.DataEngineV1, 2, nil); err != nil {
				return err
			}
			return p.waitForRow(name, "detached")
		}},
		step{"its row follows its attachment and its size", func() error {
			if err := w.Attach(ctx, name, "node-3", patience); err != nil {
				return err
			}
			if err := p.waitForRow(name, "healthy", "node-3"); err != nil {
				return err
			}
			if err := w.Grow(ctx, name, 3*gi); err != nil {
				return err
			}
			return p.waitForRow(name, "3 Gi")
		}},
		step{"its row goes when kubectl deletes it", func() error {
			if err := w.LetGo(ctx, name, patience); err != nil {
				return err
			}
			if err := w.DeleteVolume(ctx, name); err != nil {
				return err
			}
			return p.waitForNoRow(name)
		}},
	)
}
