package dataplane

type hashing struct{ *job }
type cloning struct{ *job }
type backingUp struct{ *job }
type restoring struct{ *job }
