// Package compactcache keeps in the cache what is large as a map in little: what an engine lists, and what builds on a snapshot. There
// are tens of thousands of each, a map of one costs four times its content, and both are read one volume at a time.
//
// What is kept compact stands where the beginning of a generated name would, which nothing here reads and the cache drops; it begins
// with a byte that no name has. It never leaves the process: whoever takes such an object out of the cache opens it first.
package compactcache
