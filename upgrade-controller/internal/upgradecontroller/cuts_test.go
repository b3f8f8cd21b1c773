//go:build !fast

package upgradecontroller

// oneCutOf is 1: a crash test ends the process at each of its points.
const oneCutOf = 1
