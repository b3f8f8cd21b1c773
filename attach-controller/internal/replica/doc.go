// Package replica decides which replicas a volume has: where new ones go, when a failed one is taken back or replaced,
// when one must leave its node or disk, and when the data of a deleted one may be destroyed. Whether a replica runs is the
// volume machine's business.
//
//	first replicas   at once, as many as fit; the volume may be attached with fewer
//	one has failed   taken back where its disk is there, else replaced after replica-replenishment-wait-interval
//	one is evicted   another one is made first; when it is healthy the evicted one goes
//	too many         one of them goes, while all that are wanted are healthy
//	one is deleted   approved when the volume is going, or another one is RW in a look that is newer; one at a time
package replica
