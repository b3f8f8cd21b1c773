package record

import (
	"fmt"
	"maps"
	"sort"
	"sync"
)

// Counts counts by key. It is safe for concurrent use.
type Counts[K comparable] struct {
	mutex sync.Mutex
	count map[K]int
}

func (c *Counts[K]) add(key K) {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.count == nil {
		c.count = map[K]int{}
	}
	c.count[key]++
}

// Reset removes all counts.
func (c *Counts[K]) Reset() {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	c.count = nil
}

// Sum adds up the counts of the keys that match.
func (c *Counts[K]) Sum(match func(K) bool) int {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	sum := 0
	for key, count := range c.count {
		if match(key) {
			sum += count
		}
	}
	return sum
}

// All returns every count.
func (c *Counts[K]) All() map[K]int {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	return maps.Clone(c.count)
}

// Lines returns one line for each key that matches, sorted, as count and key.
func (c *Counts[K]) Lines(match func(K) bool) []string {
	c.mutex.Lock()
	defer c.mutex.Unlock()
	var lines []string
	for key, count := range c.count {
		if match(key) {
			lines = append(lines, fmt.Sprintf("%6d  %v", count, key))
		}
	}
	sort.Strings(lines)
	return lines
}
