// Package main writes docs/tokens.md: what somebody reaches who has stolen the token of one of the five controllers. The rights are read
// from the generated Roles, and what each of them means is said in meanings.go: a right without a meaning is an error. Tests compare the
// page with what a real API server grants, and hold every policy that the page names to its word.
package main
