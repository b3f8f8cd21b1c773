// Package main writes docs/tokens.md: what a thief of the token of one of the five controllers can do. The rights are read
// from the generated Roles, and the meaning of each of them is in meanings.go: a right without a meaning is an error. Tests compare the
// page with what a real API server grants, and test every policy that the page names.
package main
