package chain

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// Disk is a snapshot or the head, as lists report it.
type Disk struct {
	Layer
	Children []string
	Bytes    int64
}

// Snapshot seals the head under a layer's name.
func (c *Chain) Snapshot(l Layer) error {
	if c.layers[l.Name] != nil || l.Name == Head {
		return fmt.Errorf("%w: %s", ErrExists, l.Name)
	}
	l.Parent, l.blocks = c.parent, c.head
	if c.layers == nil {
		c.layers = map[string]*Layer{}
	}
	c.layers[l.Name] = &l
	c.parent, c.head = l.Name, nil
	return nil
}

// Has reports whether there is a snapshot of that name.
func (c *Chain) Has(name string) bool { return c.layers[name] != nil }

// Count is how many snapshots there are that no one removed.
func (c *Chain) Count() int {
	n := 0
	for _, l := range c.layers {
		if !l.Removed {
			n++
		}
	}
	return n
}

// Use is what an engine holds against its limits.
type Use struct {
	// Count is how many snapshots no one removed; Disks are all of them, and the head.
	Count, Disks int
	// Sizes are the bytes of those on the way to the head that no one removed, Head those of the head.
	Sizes, Head int64
}

// Use counts what there is.
func (c *Chain) Use() Use {
	u := Use{Count: c.Count(), Disks: len(c.layers) + 1, Head: int64(len(c.head)) * BlockBytes}
	for l := c.layers[c.parent]; l != nil; l = c.layers[l.Parent] {
		if !l.Removed {
			u.Sizes += int64(len(l.blocks)) * BlockBytes
		}
	}
	return u
}

// Revert drops the head and continues from a snapshot.
func (c *Chain) Revert(name string) error {
	blocks, err := c.Contents(name)
	if err != nil {
		return err
	}
	c.parent, c.head, c.sum = name, nil, blocks.Sum()
	return nil
}

// List is every snapshot and the head, by name.
func (c *Chain) List() []Disk {
	out := []Disk{{Layer: Layer{Name: Head, Parent: c.parent}, Bytes: int64(len(c.head)) * BlockBytes}}
	children := map[string][]string{c.parent: {Head}}
	for name, l := range c.layers {
		children[l.Parent] = append(children[l.Parent], name)
	}
	for name, l := range c.layers {
		d := Disk{Layer: *l, Children: children[name], Bytes: int64(len(l.blocks)) * BlockBytes}
		d.Labels = maps.Clone(l.Labels)
		slices.Sort(d.Children)
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b Disk) int { return strings.Compare(a.Name, b.Name) })
	return out
}

// Mark reports that a snapshot is not wanted any more; Purge removes it when it can. An unknown name does nothing.
func (c *Chain) Mark(name string) {
	if l := c.layers[name]; l != nil {
		l.Removed = true
	}
}

// MarkSystem marks every snapshot that no user made.
func (c *Chain) MarkSystem() {
	for _, l := range c.layers {
		l.Removed = l.Removed || !l.UserCreated
	}
}

// Purge removes marked snapshots: each is merged into its only child. The parent of the head stays until there is a newer snapshot, one
// with several children until there are fewer.
func (c *Chain) Purge() {
	c.purge(func(l *Layer, children []string) bool {
		return l.Removed && len(children) <= 1 && !slices.Contains(children, Head)
	})
}

// PurgeSystem removes every snapshot that no user made and that has one child at most, the head included.
func (c *Chain) PurgeSystem() {
	c.purge(func(l *Layer, children []string) bool { return !l.UserCreated && len(children) <= 1 })
}

// purge merges what may go until nothing more may.
func (c *Chain) purge(may func(*Layer, []string) bool) {
	for again := true; again; {
		again = false
		for _, d := range c.List() {
			if d.Name != Head && c.layers[d.Name] != nil && may(c.layers[d.Name], d.Children) {
				c.merge(c.layers[d.Name], d.Children)
				again = true
				break
			}
		}
	}
}

// Drop removes a snapshot at once, merged into its only child, the head included.
func (c *Chain) Drop(name string) error {
	l := c.layers[name]
	if l == nil {
		return fmt.Errorf("%w: %s", ErrNotFound, name)
	}
	children := c.children(name)
	if len(children) > 1 {
		return fmt.Errorf("%w: %s", ErrChildren, name)
	}
	c.merge(l, children)
	return nil
}

// children are what continues from a snapshot.
func (c *Chain) children(name string) []string {
	var out []string
	if c.parent == name {
		out = append(out, Head)
	}
	for _, l := range c.layers {
		if l.Parent == name {
			out = append(out, l.Name)
		}
	}
	return out
}

// merge gives a layer's blocks to its child, where the child has none of its own, and takes it out.
func (c *Chain) merge(l *Layer, children []string) {
	for _, name := range children {
		if name == Head {
			c.head, c.parent = union(l.blocks, c.head), l.Parent
			continue
		}
		child := c.layers[name]
		child.blocks, child.Parent = union(l.blocks, child.blocks), l.Parent
	}
	delete(c.layers, l.Name)
}

// union is the lower blocks with the upper ones over them.
func union(lower, upper Blocks) Blocks {
	out := maps.Clone(lower)
	if out == nil {
		out = Blocks{}
	}
	maps.Copy(out, upper)
	return out
}
