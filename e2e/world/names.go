package world

import (
	"fmt"
	"sync/atomic"
)

var counter atomic.Int64

// Unique returns a name that is new in this process.
func Unique(prefix string) string { return fmt.Sprintf("%s-%d", prefix, counter.Add(1)) }
