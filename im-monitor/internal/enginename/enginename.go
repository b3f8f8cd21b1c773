// Package enginename knows the names of a volume's engines: they end in a number that grows.
package enginename

import (
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"

	"drover.dev/drover/shared/api/v1beta2"
)

// All asks Unaccounted for every earlier engine.
const All = math.MaxInt

// later is the number of engines that may have been made after the objects, if an earlier state of etcd was restored.
const later = 8

// Of returns the name of a volume's engine with a number.
func Of(volume string, number int) string { return fmt.Sprintf("%s-e-%d", volume, number) }

// Unaccounted yields the names under which an engine of a volume may run although no object shows it, the lowest number first: there is no
// object, or hasBegun returns false for the object. earlier is the number of names before the last object's.
func Unaccounted(volume string, engines []v1beta2.Engine, hasBegun func(*v1beta2.Engine) bool, earlier int) iter.Seq[string] {
	last, begun := 0, map[string]bool{}
	for i := range engines {
		e := &engines[i]
		begun[e.Name] = hasBegun(e)
		if n, err := strconv.Atoi(strings.TrimPrefix(e.Name, volume+"-e-")); err == nil {
			last = max(last, n)
		}
	}
	return func(yield func(string) bool) {
		for n := max(0, last-earlier); n <= last+later && n >= 0; n++ { // n < 0: the largest number has none after it
			if name := Of(volume, n); !begun[name] && !yield(name) {
				return
			}
		}
	}
}
