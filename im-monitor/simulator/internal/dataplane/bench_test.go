package dataplane

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
)

// BenchmarkAttach attaches and detaches volumes of three replicas while a thousand others are attached.
func BenchmarkAttach(b *testing.B) {
	for _, engine := range []string{V1, V2} {
		b.Run(engine, func(b *testing.B) {
			c := newCluster(b, engine, Behaviour{})
			attach := func(volume string) {
				c.open(0, volume+"-e-0", volume, map[int]string{0: c.replica(0, volume), 1: c.replica(1, volume), 2: c.replica(2, volume)})
			}
			for n := range 1000 {
				attach(fmt.Sprintf("other-%d", n))
			}
			b.ResetTimer()
			for n := range b.N {
				volume := fmt.Sprintf("vol-%d", n)
				attach(volume)
				if engine == V2 {
					c.close(0, volume+"-ef-0", TypeFrontend)
				}
				c.close(0, volume+"-e-0", TypeEngine)
				for r := range 3 {
					c.close(r, fmt.Sprintf("%s-r-%d", volume, r), TypeReplica)
				}
			}
		})
	}
}

func TestPortsAreUsedAgainWhenTheRangeIsUsedUp(t *testing.T) {
	p := &ports{next: 10, last: 19, free: map[int32][]int32{}}
	first, end := p.take(5)
	require.Equal(t, []int32{10, 14}, []int32{first, end})
	p.give(first, end)
	second, _ := p.take(5)
	require.Equal(t, int32(15), second, "fresh ones first")
	third, _ := p.take(5)
	require.Equal(t, int32(10), third)
	fourth, _ := p.take(5)
	require.Equal(t, int32(20), fourth, "above the range")
}
