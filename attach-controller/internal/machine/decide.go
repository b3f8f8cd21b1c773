package machine

// Decide is total and deterministic; deciding again on a world in which its writes were done changes nothing until another writer changes
// the world.
func Decide(w World) Verdict {
	f, total := factsOf(&w), result{}
	if f.neverAttached() {
		return f.clearImage()
	}
	for _, c := range concerns {
		if !c.when(f) {
			continue
		}
		d := &draft{Facts: f}
		c.decide(d)
		f.decided = d.decided
		total.merge(d.result)
	}
	return total.verdict()
}

// concern is one subject that is decided by itself: it gets the facts, which contain what the concerns before it decided, and fills a draft
// with its result.
type concern struct {
	when   func(Facts) bool
	decide func(*draft)
}

// concerns are in the order in which they are decided. A later one builds on the decisions of the earlier ones (decided), and its wait is
// reported only if no earlier one waits; that I/O is suspended precedes every other wait.
var concerns = []concern{
	// Objects of a previous volume of the same name end on their own: nothing else depends on them.
	{Facts.always, of[previousVolume]},
	// A volume that is being deleted is detached, its objects are deleted, and nothing else happens to it.
	{Facts.deleted, of[deletion]},
	// A new volume gets its defaults, then its engine and frontend. The concerns below see them in the next evaluation.
	{Facts.kept, of[defaults]},
	// Faults come before anything starts or stops: a faulted volume starts no engine and no replica until it was detached.
	{Facts.kept, of[faults]},
	// Replicas that lack data are marked before an engine could start over them, or a target move to them. [UPG-1] It would do as well before
	// faults: the last healthy replica is never marked, so that no mark of an evaluation decides whether the volume is faulted.
	{Facts.kept, of[replicaHealth]},
	// One step of the table in the package comment: open or close.
	{Facts.kept, of[lifecycle]},
	// The engine of an attached volume moves under its frontend. The engine that it creates gets the replicas that the volume's engine has:
	// so no other one joins that engine in the same evaluation (membership). A volume either migrates or its target moves.
	{Facts.targetMayMove, of[targetMove]},
	// The volume migrates to another node. It is open on its node by now, and the second engine starts over the replicas that are left.
	{Facts.mayMigrate, of[migration]},
	// The running engine gets and loses replicas, unless a second engine starts over the same ones: it would lack what is added meanwhile.
	{Facts.unchanging, of[membership]},
	// The engine grows with the replicas that it has, and gets the volume's limits: for the same reason not beside a second engine.
	{Facts.unchanging, of[expansion]},
	{Facts.unchanging, of[limits]},
	// I/O that was suspended for a fail-over resumes, unless the target move has just decided that the fail-over goes on. [UPG-1]
	{Facts.kept, of[resumption]},
	// A user who loses the volume and still wants it gets a new mount.
	{Facts.kept, of[remount]},
	// A faulted volume is used again once the table has detached it.
	{Facts.kept, of[salvage]},
	// A new volume is filled with its data, once it is open; a restore that failed makes the volume faulted again.
	{Facts.restores, of[restore]},
	{Facts.clones, of[clone]},
	// A user's revert needs an attached volume that nothing else fills.
	{Facts.kept, of[revert]},
	// A notice explains, and changes nothing: it is reported only if nothing else waits, so it comes after all that does.
	{Facts.kept, of[imageNotice]},
	// Volume.status describes what all of the above decided.
	{Facts.always, of[status]},
}

// of returns how a concern of type C is decided.
func of[C interface {
	~struct{ *draft }
	decide()
}](d *draft) {
	C(struct{ *draft }{d}).decide()
}
