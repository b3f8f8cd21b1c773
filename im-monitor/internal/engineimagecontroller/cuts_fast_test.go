//go:build fast

package engineimagecontroller_test

// oneCutOf is the n of cut.Share: in "make test" the crash test ends the process at every third point.
const oneCutOf = 3
