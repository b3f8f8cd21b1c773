// Package standin lets a part of a controller stand in for another program, whose role it takes over: it acts only while
// this process holds that program's lease, so that the two never act together. Losing the lease stops that part alone, and
// getting it again looks at everything anew.
package election
