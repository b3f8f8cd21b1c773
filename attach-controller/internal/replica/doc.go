// Package replica decides which replicas a volume has: where new ones go, when a failed one is taken back or replaced, when one must leave
// its node or disk, and when the data of a deleted one may be destroyed. The volume machine decides whether a replica runs.
//
//	first replicas   at once, as many as fit; the volume may be attached with fewer
//	one has failed   taken back if its disk is there, else replaced after replica-replenishment-wait-interval
//	one is evicted   another one is created first; when it is healthy the evicted one is deleted
//	too many         one of them is deleted, while all that are wanted are healthy
//	one is deleted   approved when the volume is deleted, or another one is RW in a newer poll; one at a time
package replica
