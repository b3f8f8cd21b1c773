// Package chain is the data of one replica: numbered blocks of text in a head, and the snapshots below it. A snapshot is the difference to
// its parent; reverting makes the chain a tree. Two chains hold the same volume exactly if their sums are equal. The package knows no
// engine, no node and no time of its own.
package chain

import (
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"strconv"
	"time"
)

// Head is the name of what no snapshot holds yet.
const Head = "volume-head"

// BlockBytes is what a block counts for in sizes.
const BlockBytes = 4096

// Errors of a chain.
var (
	ErrExists   = errors.New("snapshot is already existing")
	ErrNotFound = errors.New("snapshot was not found")
	ErrChildren = errors.New("snapshot has several children")
)

// Blocks are texts by block number.
type Blocks map[int64]string

// Layer is one snapshot. Its blocks are never changed, only replaced, so that chains may share them.
type Layer struct {
	Name, Parent, UUID   string
	Created              time.Time
	UserCreated, Removed bool
	Labels               map[string]string
	blocks               Blocks
}

// Chain is the data of one replica. The zero value is an empty volume.
type Chain struct {
	base   Blocks // of the backing image, below every layer
	layers map[string]*Layer
	parent string // of the head
	head   Blocks
	sum    uint64
	writes uint64
}

// Write puts a text into a block. The number is the write's own, counted for the whole volume.
func (c *Chain) Write(block int64, text string, number uint64) {
	if old, ok := c.Read(block); ok {
		c.sum ^= hash(block, old)
	}
	c.sum ^= hash(block, text)
	if c.head == nil {
		c.head = Blocks{}
	}
	c.head[block], c.writes = text, number
}

// Read is the text of a block; false when it was never written.
func (c *Chain) Read(block int64) (string, bool) {
	if text, ok := c.head[block]; ok {
		return text, true
	}
	return c.readAt(c.parent, block)
}

// readAt reads a block as of a snapshot.
func (c *Chain) readAt(name string, block int64) (string, bool) {
	for l := c.layers[name]; l != nil; l = c.layers[l.Parent] {
		if text, ok := l.blocks[block]; ok {
			return text, true
		}
	}
	text, ok := c.base[block]
	return text, ok
}

// SetBase puts a backing image below the chain, or removes it. It is not part of the chain: whoever opens the chain without it reads
// zeros.
func (c *Chain) SetBase(base Blocks) {
	c.base = base
	if blocks, err := c.Contents(Head); err == nil {
		c.sum = blocks.Sum()
	}
}

// Over are blocks over the backing image.
func (c *Chain) Over(blocks Blocks) Blocks { return union(c.base, blocks) }

// Sum is the checksum of the head as a reader sees it.
func (c *Chain) Sum() uint64 { return c.sum }

// Writes is the number of the last write that was applied.
func (c *Chain) Writes() uint64 { return c.writes }

// Empty reports whether nothing was ever written.
func (c *Chain) Empty() bool { return c.writes == 0 && len(c.layers) == 0 }

// Contents are all blocks as of a snapshot, or as of the head, those of the backing image included.
func (c *Chain) Contents(name string) (Blocks, error) {
	own, err := c.Own(name)
	if err != nil || len(c.base) == 0 {
		return own, err
	}
	return c.Over(own), nil
}

// Own are the blocks that the chain itself holds: what a clone and a backup copy.
func (c *Chain) Own(name string) (Blocks, error) {
	out, parent := Blocks{}, name
	if name == Head {
		maps.Copy(out, c.head)
		parent = c.parent
	} else if c.layers[name] == nil {
		return nil, fmt.Errorf("%w: %s", ErrNotFound, name)
	}
	for l := c.layers[parent]; l != nil; l = c.layers[l.Parent] {
		for block, text := range l.blocks {
			if _, newer := out[block]; !newer {
				out[block] = text
			}
		}
	}
	return out, nil
}

// Replace makes the blocks the whole volume: no snapshot is left.
func (c *Chain) Replace(blocks Blocks, number uint64) {
	c.layers, c.parent, c.head = nil, "", maps.Clone(blocks)
	c.sum, c.writes = c.Over(blocks).Sum(), number
}

// Clear forgets everything.
func (c *Chain) Clear() { *c = Chain{base: c.base, sum: c.base.Sum()} }

// Adopt takes over what a source has and this chain lacks: the end of a rebuild. What was written here since is newer and stays.
func (c *Chain) Adopt(source *Chain) error {
	for name, theirs := range source.layers {
		if c.layers == nil {
			c.layers = map[string]*Layer{}
		}
		copied := *theirs
		if own := c.layers[name]; own != nil {
			copied.UUID = own.UUID
		}
		c.layers[name] = &copied
	}
	c.parent = source.parent
	blocks, err := c.Contents(Head)
	if err != nil {
		return err
	}
	c.sum, c.writes = blocks.Sum(), source.writes
	return nil
}

// Sum is the checksum of blocks, whatever chain they are from.
func (b Blocks) Sum() uint64 {
	var sum uint64
	for block, text := range b {
		sum ^= hash(block, text)
	}
	return sum
}

// Set writes a block and answers the sum that follows from the sum before.
func (b Blocks) Set(block int64, text string, sum uint64) uint64 {
	if old, ok := b[block]; ok {
		sum ^= hash(block, old)
	}
	b[block] = text
	return sum ^ hash(block, text)
}

// Text is how a checksum is shown.
func Text(sum uint64) string { return fmt.Sprintf("%016x", sum) }

func hash(block int64, text string) uint64 {
	h := fnv.New64a()
	_, _ = h.Write(strconv.AppendInt(nil, block, 10))
	_, _ = h.Write([]byte{0})
	_, _ = h.Write([]byte(text))
	return h.Sum64()
}
