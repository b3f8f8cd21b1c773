package world

import (
	"fmt"
	"sync/atomic"
)

var counter atomic.Int64

// Unique makes a name that nothing in this program had before.
func Unique(prefix string) string { return fmt.Sprintf("%s-%d", prefix, counter.Add(1)) }
