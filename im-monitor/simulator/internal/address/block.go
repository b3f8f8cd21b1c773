// Package address allocates loopback addresses, one per instance-manager pod, from a block of 65,000 that one process locks for itself:
// several simulators run at once on one machine and never meet.
package address

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"syscall"
)

// Blocks are 127.<first>.0.0/16 to 127.<last>.0.0/16; a locked one has somebody who listens at the port.
const (
	firstBlock = 64
	lastBlock  = 254
	lockPort   = 8499
)

// Block is one locked block of addresses.
type Block struct {
	number int
	lock   net.Listener

	mu   sync.Mutex
	next int
	used map[int]bool
}

// perBlock is how many addresses a block has: the third and fourth byte from 1 to 254.
const perBlock = 254 * 254

// Lock takes the first block that no other process holds: it listens on an address of the block that is never handed out. So
// a block is locked where its addresses are, whatever directories the processes share, and the kernel drops a lock when its
// process ends, however it ends.
func Lock() (*Block, error) {
	for number := firstBlock; number <= lastBlock; number++ {
		lock, err := net.Listen("tcp4", fmt.Sprintf("127.%d.255.254:%d", number, lockPort))
		if err == nil {
			return &Block{number: number, lock: lock, used: map[int]bool{}}, nil
		}
		if !errors.Is(err, syscall.EADDRINUSE) {
			return nil, fmt.Errorf("locking an address block: %w", err)
		}
	}
	return nil, fmt.Errorf("every address block from 127.%d to 127.%d is in use", firstBlock, lastBlock)
}

// Take allocates the address that was free for longest.
func (b *Block) Take() (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for range perBlock {
		n := b.next
		b.next = (b.next + 1) % perBlock
		if !b.used[n] {
			b.used[n] = true
			return b.text(n), nil
		}
	}
	return "", fmt.Errorf("all %d addresses of block %s are in use", perBlock, b)
}

// Give takes an address back.
func (b *Block) Give(address string) {
	var x, y int
	if _, err := fmt.Sscanf(address, fmt.Sprintf("127.%d.%%d.%%d", b.number), &x, &y); err != nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.used, (x-1)*254+y-1)
}

func (b *Block) text(n int) string { return fmt.Sprintf("127.%d.%d.%d", b.number, n/254+1, n%254+1) }

// String is the block in CIDR notation.
func (b *Block) String() string { return fmt.Sprintf("127.%d.0.0/16", b.number) }

// Close gives the block back.
func (b *Block) Close() error { return b.lock.Close() }
