// Package backup decides what a poll of a volume's running engine means for the Backup objects of that volume, and which
// of them the engine is asked for next. It reads nothing, writes nothing and knows no clock. The policy (tickets, targets,
// whether the snapshot is ready) is snapshot-controller's.
//
//	approved ──(noted: Pending, which run of the engine)──> asked ──> InProgress ──> Completed
//	                                                          └──(refused)─────────> Error
//
// That a run of an engine is asked is noted before it is. From then on this run is asked whether it knows the backup, and
// is asked for it again only when it does not, and when no call of ours, or of an earlier leader, can still be under way:
// one Backup is one backup. A v2 run that may have been asked is never asked for it again: it reports a backup only at the replica that
// copies, and that one may have left. A run that ended takes what it copied along: the next one is asked again, under the same name,
// of which a target has one. One backup of a volume is copied at a time.
package backup
