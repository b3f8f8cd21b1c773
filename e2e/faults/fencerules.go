package main

// fenceRules are those by which a process whose lease is old does no harm, as after a pause.
func fenceRules() []rule {
	const runkit, monitor = "./shared/runkit", "./im-monitor"
	fenced := []string{runkit + " -run=TestALeaderThatCannotRenew"}
	return []rule{
		in("writes pass the fence", "a process that may no longer be the leader writes nothing", fenced, runkit, "process.fenced",
			"config.Wrap(p.fence.Transport)", "").shows("in chain but got nil"),
		in("the lease moves the fence", "it is the renewals of a process's own lease that let it write", fenced, runkit, "newLock",
			"process.fence, lost", "nil, lost").shows("the fence does not know of the lease"),
		in("calls pass the fence", "a process that may no longer be the leader makes no call with an effect",
			[]string{monitor + " -run=TestAFencedProcess"}, monitor, "dial", "rt.Fence.Check", "nil").shows("does not contain"),
	}
}
