//go:build fast

package certificatecontroller

// oneCutOf is the n of cut.Share: in "make test" a crash test ends the process at every third point.
const oneCutOf = 3
