//go:build !fast

package engineimagecontroller_test

// oneCutOf is 1: the crash test ends the process at each of its points.
const oneCutOf = 1
