package checks

import (
	"fmt"
	"strings"

	"google.golang.org/protobuf/types/known/emptypb"

	"drover.dev/drover/im-monitor/conformance/internal/suite"
)

// v1Processes are the checks of replica processes, each of which serves one engine.
func v1Processes() []suite.Check {
	return []suite.Check{
		found(v1("replica-open", "an engine over a replica that another engine has open ends with exit status 61, and the other engine "+
			"keeps its replica", onStart, v1ReplicaOpen), "K1"),
		found(v1("replica-open-left-out", "an engine leaves out a replica that another engine has open, and serves the others", onStart,
			v1ReplicaOpenLeftOut), "K1"),
		found(v1("replica-open-add", "ReplicaAdd of a replica that another engine has open is refused", onStart, v1ReplicaOpenAdd), "K1"),
		found(v1("replica-second-process", "a second process over the same directory serves a second engine, which reads what the first "+
			"wrote before the second served", onStart, v1SecondProcess, suite.Content), "K1"),
		found(v1("replica-left-open", "an engine that died leaves its replicas open: the next one ends with exit status 61 until their "+
			"processes are started again", onStart, v1ReplicaLeftOpen, suite.SecondManager, suite.Restart), "K1"),
	}
}

// engineNumberEnds starts an engine of a number that must not run, and returns why it ended.
func (k v1kit) engineNumberEnds(number int, replicas ...process) string {
	name := k.engineName(number)
	if _, err := k.create(k.Manager, name, k.EngineBinary, 1, k.engineArguments(name, engineOptions{}, replicas...)...); err != nil {
		return err.Error()
	}
	message := k.ends(k.Manager, name)
	k.stop(process{name: name, on: k.Manager})
	return message
}

func v1ReplicaOpen(k v1kit) {
	r := k.replica(k.Manager, 1, replicaOptions{})
	first := k.engine(k.Manager, 0, engineOptions{}, r)
	message := k.engineNumberEnds(1, r)
	k.Require(strings.Contains(message, "exit status 61"), "the second engine ended with %q", message)
	k.inMode(first, r, "RW")
}

func v1ReplicaOpenLeftOut(k v1kit) {
	taken, free := k.replica(k.Manager, 1, replicaOptions{}), k.replica(k.Manager, 2, replicaOptions{})
	first := k.engine(k.Manager, 0, engineOptions{}, taken)
	second := k.engine(k.Manager, 1, engineOptions{}, taken, free)
	k.inMode(second, taken, "ERR")
	k.inMode(second, free, "RW")
	k.inMode(first, taken, "RW")
}

func v1ReplicaOpenAdd(k v1kit) {
	taken := k.replica(k.Manager, 1, replicaOptions{})
	first := k.engine(k.Manager, 0, engineOptions{}, taken)
	second := k.engine(k.Manager, 1, engineOptions{}, k.replica(k.Manager, 2, replicaOptions{}))
	k.Fails(k.add(k.Context(), second, taken), []string{"must be closed"}, "adding a replica that another engine has open")
	k.inMode(first, taken, "RW")
}

func v1SecondProcess(k v1kit) {
	e, replicas := k.served(1, engineOptions{})
	k.write(e, 1, "before")
	name := fmt.Sprintf("%s-r-%08d", k.volume, 2)
	_, err := k.create(k.Manager, name, k.ReplicaBinary, 10, k.replicaArgumentsIn(replicas[0].name, name, replicaOptions{})...)
	k.OK(err, "creating a second process over the directory of %s", replicas[0].name)
	second := k.runs(k.Manager, name)
	without := k.engine(k.Manager, 1, engineOptions{}, second)
	k.inMode(without, second, "RW")
	k.inMode(e, replicas[0], "RW")
	k.write(e, 2, "meanwhile")
	k.stop(e)
	k.stop(without)
	next := k.engine(k.Manager, 2, engineOptions{frontend: k.FrontendV1}, second)
	k.reads(next, 1, "before")
	k.reads(next, 2, "meanwhile")
}

func v1ReplicaLeftOpen(k v1kit) {
	r := k.replica(k.Second, 1, replicaOptions{})
	k.engine(k.Manager, 0, engineOptions{}, r)
	k.Require(k.Lab.Restart(k.Context(), k.Manager) == nil, "the manager could not be restarted")
	k.Eventually("the manager answers and lists nothing", func() (bool, string) {
		out, err := k.Manager.Instance.InstanceList(k.Context(), &emptypb.Empty{})
		return err == nil && len(out.GetInstances()) == 0, describe(nil, err)
	})
	message := k.engineNumberEnds(1, r)
	k.Require(strings.Contains(message, "exit status 61"), "the next engine ended with %q", message)
	k.stop(r)
	again := k.replica(k.Second, 1, replicaOptions{})
	k.inMode(k.engine(k.Manager, 2, engineOptions{}, again), again, "RW")
}
