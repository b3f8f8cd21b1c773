package inventory

import (
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

// perManager is how many instances each instance manager of a population has.
const perManager = 100

// populate makes an inventory that knows a number of instances, without connections or loops.
func populate(instances int) (*Inventory, []*session) {
	i := New(Config{})
	var sessions []*session
	for n := range instances / perManager {
		target := Target{InstanceManager: fmt.Sprintf("instance-manager-%030d", n), Node: fmt.Sprint("node-", n),
			DataEngine: v1beta2.DataEngineV1}
		m := newMember(i, target)
		i.members[target.InstanceManager] = m
		s := &session{member: m, config: i.config, target: target, since: time.Now(), began: time.Now()}
		s.publish(listOf(n, "running"), nil)
		sessions = append(sessions, s)
	}
	return i, sessions
}

// listOf is the list of one instance manager, as freshly read: nothing in it is shared with an earlier one.
func listOf(manager int, firstState string) map[string]Instance {
	list := make(map[string]Instance, perManager)
	for n := range perManager {
		name := fmt.Sprintf("pvc-%08d-1111-2222-3333-%012d-r-%08x", manager, n, n)
		list[name] = Instance{Name: name, Type: v1beta2.InstanceTypeReplica, DataEngine: v1beta2.DataEngineV1,
			State: v1beta2.InstanceStateRunning,
			UUID:  fmt.Sprintf("%08d-1111-2222-3333-%012d", manager, n), UUIDSource: "InstanceStatus", PortStart: 10000, PortEnd: 10009}
		if n == 0 {
			first := list[name]
			first.State = firstState
			list[name] = first
		}
	}
	return list
}

// BenchmarkEvent is the cost of one notice (the list's way over the wire left out) in a small and in a large population: it must be the
// same.
func BenchmarkEvent(b *testing.B) {
	for _, instances := range []int{3_000, 300_000} {
		b.Run(fmt.Sprint(instances), func(b *testing.B) {
			_, sessions := populate(instances)
			states := []string{"running", "stopped"}
			b.ReportAllocs()
			for n := 0; b.Loop(); n++ {
				b.StopTimer()
				which := n % len(sessions)
				list := listOf(which, states[(n/len(sessions)+1)%2])
				b.StartTimer()
				sessions[which].publish(list, nil)
			}
		})
	}
}

// TestAHundredThousandInstancesFit bounds what the inventory itself keeps, after lists that were read again and reported nothing new.
func TestAHundredThousandInstancesFit(t *testing.T) {
	heap := func() uint64 {
		runtime.GC()
		var stats runtime.MemStats
		runtime.ReadMemStats(&stats)
		return stats.HeapAlloc
	}
	before := heap()
	i, sessions := populate(100_000)
	for n, s := range sessions {
		s.publish(listOf(n, "running"), nil)
	}
	used := heap() - before
	runtime.KeepAlive(i)
	t.Logf("%d MB, %d bytes per instance", used>>20, used/100_000)
	require.Less(t, used/100_000, uint64(1024), "bytes per instance")
}
