package scenarios

import (
	"fmt"
	"sync/atomic"
)

var counter atomic.Int64

// unique makes a volume name that no earlier Story of this process used.
func unique(prefix string) string { return fmt.Sprintf("%s-%d", prefix, counter.Add(1)) }
