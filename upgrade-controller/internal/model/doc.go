// Package model is a small world of nodes and volumes in memory, with the peer controllers of upgrade-controller in it: what
// attach-controller and im-monitor do about targets, replicas and instance managers, one small step at a time, and as
// literally as the contract describes it. Tests run the decisions of upgrade-controller on random worlds in which nodes
// die, users detach volumes, and upgrade-controller is killed between two writes; a test of the reconciler runs the same
// peer controllers on a real API server.
//
// The package only simulates; it decides nothing for upgrade-controller and is linked into no binary.
package model
