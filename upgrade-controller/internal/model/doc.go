// Package model is a small world of nodes and volumes in memory, with the neighbours of upgrade-controller in it: what
// attach-controller and im-monitor do about targets, replicas and instance managers, one small step at a time, and as
// literally as the contract has it. Tests let the decisions of upgrade-controller loose on random worlds in which nodes
// die, users detach volumes, and upgrade-controller is killed between two writes; a test of the shell lets the same
// neighbours act on a real API server.
//
// The package plays; it decides nothing for upgrade-controller and is linked into no binary.
package model
