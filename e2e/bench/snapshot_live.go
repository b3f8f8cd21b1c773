package main

import "context"

// living measures all controllers while snapshots are made, kept and removed.
func living(context.Context, *report) error { return nil }
