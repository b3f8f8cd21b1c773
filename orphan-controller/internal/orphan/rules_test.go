package orphan

import (
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
)

// want is a verdict without its prose.
type want struct {
	step      Step
	outcome   string
	approved  v1beta2.ConditionStatus // of CleanupApproved; "" none
	reason    string                  // of CleanupApproved
	policy    string                  // reason of DeletionReason; "" none
	event     EventKind
	confirm   bool
	requeueAt time.Time
}

func shape(v Verdict) want {
	got := want{step: v.Step, outcome: v.Outcome, event: v.Event, confirm: v.Confirm, requeueAt: v.RequeueAt}
	if c := conditions.Get(v.Conditions, v1beta2.OrphanCleanupApproved); c != nil {
		got.approved, got.reason = c.Status, c.Reason
	}
	got.policy = conditions.Reason(v.Conditions, v1beta2.OrphanDeletionReason)
	return got
}

type table map[string]struct {
	world World
	want  want
}

func (cases table) run(t *testing.T) {
	for name, c := range cases {
		t.Run(name, func(t *testing.T) {
			v := Decide(c.world)
			require.Equal(t, c.want, shape(v), v.Message)
			checkVerdict(t, c.world, v)
		})
	}
}

func (w want) held(reason string) want {
	w.step, w.outcome, w.approved, w.reason, w.event = StepConditions, reason, v1beta2.ConditionFalse, reason, EventHeld
	return w
}

func (w want) ended(reason string) want {
	w = w.held(reason)
	w.event, w.confirm = EventEnded, true
	return w
}

var standing = want{outcome: OutcomeStanding}

// approvedPerson: the approval of a person's deletion; approvedPolicy: the reason and the approval of a policy.
var approvedPerson = want{
	step: StepConditions, outcome: v1beta2.ReasonApproved, approved: v1beta2.ConditionTrue, reason: v1beta2.ReasonApproved,
	event: EventApproved,
}

func approvedPolicy(reason string) want {
	w := approvedPerson
	w.policy, w.confirm = reason, true
	return w
}

// O9, O13: who deletes an orphan, and how a person's deletion and a policy's are distinguished.
func TestDeletion(t *testing.T) {
	deleted := want{
		step: StepDelete, outcome: v1beta2.ReasonApproved, approved: v1beta2.ConditionTrue, reason: v1beta2.ReasonApproved,
		policy: v1beta2.ReasonAutoDeletion, event: EventDeleted, confirm: true,
	}
	inProgress := want{outcome: v1beta2.ReasonApproved, approved: v1beta2.ConditionTrue, reason: v1beta2.ReasonApproved,
		policy: v1beta2.ReasonAutoDeletion}
	table{
		"with auto deletion off an orphan stands, and nothing is written": {quiet(), standing},
		"a person's deletion is approved without any wait":                {quiet(deletedByPerson, aged(0)), approvedPerson},
		"a person's deletion does not need auto deletion, nor uncached reads": {quiet(deletedByPerson, autoDeletionOn),
			approvedPerson},
		"a person may delete what policy held back": {quiet(deletedByPerson,
			heldBackFor(v1beta2.ReasonFlood), autoDeletionOn), approvedPerson},
		"a person may delete a last copy [UPG-1]": {quiet(deletedByPerson, volumeExists), approvedPerson},
		"policy stores its reason together with the approval, before it deletes": {quiet(autoDeletionOn),
			approvedPolicy(v1beta2.ReasonAutoDeletion)},
		"policy deletes once reason and approval are stored": {quiet(autoDeletionOn, approvedByPolicy), deleted},
		"policy's approval stays while the deletion is carried out": {quiet(autoDeletionOn, approvedByPolicy,
			deletedByPerson), inProgress},
		"an approval that is stored is not written again": {quiet(deletedByPerson,
			with(v1beta2.OrphanCleanupApproved, v1beta2.ConditionTrue, v1beta2.ReasonApproved)),
			want{outcome: v1beta2.ReasonApproved, approved: v1beta2.ConditionTrue, reason: v1beta2.ReasonApproved}},
		"an engine's orphan is deleted like a replica's": {quiet(autoDeletionOn,
			ofType(v1beta2.OrphanTypeEngineInstance)), approvedPolicy(v1beta2.ReasonAutoDeletion)},
		"data only is covered by the item instance": {quiet(autoDeletionOn,
			evaluatedBy(v1beta2.ReasonDataOnly)), approvedPolicy(v1beta2.ReasonAutoDeletion)},
		"the item replica-data alone leaves instances alone": {quiet(replicaDataOn), standing},
		"auto deletion turned off before the deletion was sent: the conditions are removed": {quiet(approvedByPolicy),
			want{step: StepConditions, outcome: OutcomeStanding}},
	}.run(t)
}

func TestNothingIsWrittenWhenNothingChanged(t *testing.T) {
	w := quiet(deletedByPerson)
	w = after(w, Decide(w))
	require.Equal(t, StepNone, Decide(w).Step)
}

func TestWithdrawn(t *testing.T) {
	cases := table{
		"a reason of a newer im-monitor means wait, also while deleting": {
			quiet(deletedByPerson, withdrawnFor("Teleported")), want{}.held(v1beta2.ReasonNotJudged).as(OutcomeUnknown)},
		"a reason of a newer im-monitor means wait": {quiet(withdrawnFor("Teleported"), autoDeletionOn), want{outcome: OutcomeUnknown}},
		"Withdrawn=False is no withdrawal": {
			quiet(with(v1beta2.OrphanWithdrawn, v1beta2.ConditionFalse, v1beta2.ReasonClaimed)), standing},
		"an orphan with foreign finalizers only waits for them": {quiet(deletedByPerson, released1, withdrawnFor(v1beta2.ReasonClaimed)),
			want{outcome: OutcomeReleased}},
	}
	for _, reason := range withdrawals {
		cases["withdrawn as "+reason+": the CR is deleted as it is"] = struct {
			world World
			want  want
		}{quiet(withdrawnFor(reason), autoDeletionOn),
			want{step: StepDelete, outcome: OutcomeWithdrawn, event: EventWithdrawn, confirm: true}}
		cases["withdrawn as "+reason+" while being deleted: the finalizer goes, nothing is approved"] = struct {
			world World
			want  want
		}{quiet(withdrawnFor(reason), deletedByPerson), want{step: StepDropFinalizer, outcome: OutcomeWithdrawn, event: EventWithdrawn}}
	}
	cases.run(t)
}

func (w want) as(outcome string) want { w.outcome = outcome; return w }

func TestEvidence(t *testing.T) {
	gone := with(v1beta2.OrphanInstanceState, v1beta2.ConditionFalse, v1beta2.InstanceStateTerminated)
	table{
		"proven absence drops the finalizer": {quiet(deletedByPerson, gone),
			want{step: StepDropFinalizer, outcome: OutcomeTerminated, event: EventCleaned}},
		"proven absence ends also what was never approved": {quiet(deletedByPerson, gone, heldBackFor(v1beta2.ReasonClaimed)),
			want{step: StepDropFinalizer, outcome: OutcomeTerminated, approved: v1beta2.ConditionFalse, reason: v1beta2.ReasonClaimed,
				event: EventCleaned}},
		"a standing orphan without instance is im-monitor's to withdraw": {quiet(autoDeletionOn, gone), want{outcome: OutcomeTerminated}},
		"an instance state that this version does not know means wait": {
			quiet(deletedByPerson, with(v1beta2.OrphanInstanceState, v1beta2.ConditionFalse, "evaporated")),
			want{}.held(v1beta2.ReasonNotJudged).as(OutcomeUnknown)},
		"a failed attempt changes nothing": {
			quiet(deletedByPerson, with(v1beta2.OrphanCleanupFailed, v1beta2.ConditionTrue, v1beta2.ReasonUnreachable)), approvedPerson},
	}.run(t)
}

// O11, O12: what ends without a call. Only positive evidence counts.
func TestNodeAndInstanceManagerGone(t *testing.T) {
	nodeDeleting := func(w *World) { at := metav1.NewTime(noon); w.Node.DeletionTimestamp = &at }
	nodeSilent := func(w *World) { w.Node.Status.Conditions = nil }
	ended := heldBackFor(v1beta2.ReasonNodeGone)
	drop := want{step: StepDropFinalizer, approved: v1beta2.ConditionFalse, event: EventEnded}
	table{
		"a deleted node":               {quiet(nodeAbsent), want{}.ended(v1beta2.ReasonNodeGone)},
		"a node that is being deleted": {quiet(nodeDeleting), want{}.ended(v1beta2.ReasonNodeGone)},
		"its Kubernetes node is gone": {quiet(nodeNotReady(v1beta2.ReasonKubernetesNodeGone)),
			want{}.ended(v1beta2.ReasonNodeGone)},
		"its Kubernetes node is not ready": {quiet(nodeNotReady(v1beta2.ReasonKubernetesNodeNotReady)),
			want{}.ended(v1beta2.ReasonNodeGone)},
		"a person's deletion ends there, too": {quiet(nodeAbsent, deletedByPerson),
			want{}.ended(v1beta2.ReasonNodeGone)},
		"an approval falls with the node": {quiet(nodeAbsent, deletedByPerson, approvedByPolicy),
			want{policy: v1beta2.ReasonAutoDeletion}.ended(v1beta2.ReasonNodeGone)},
		"a missing manager pod proves nothing": {quiet(nodeNotReady(v1beta2.ReasonManagerPodMissing)), standing},
		"a manager pod that is down proves nothing": {quiet(nodeNotReady(v1beta2.ReasonManagerPodDown),
			deletedByPerson), approvedPerson},
		"an instance manager that does not answer is not gone": {quiet(nodeNotReady(v1beta2.ReasonInstanceManagerUnreachable),
			deletedByPerson), approvedPerson},
		"a node of which nothing is known yet is not down": {quiet(nodeSilent), standing},
		"an instance manager that is gone": {quiet(instanceManagerAbsent),
			want{}.ended(v1beta2.ReasonInstanceManagerGone)},
		"a stored end is done: a standing orphan is deleted": {after(quiet(nodeAbsent), Decide(quiet(nodeAbsent))),
			want{step: StepDelete, outcome: v1beta2.ReasonNodeGone, approved: v1beta2.ConditionFalse, reason: v1beta2.ReasonNodeGone,
				event: EventEnded, confirm: true}},
		"a node that came back before the deletion gets its orphan back": {quiet(ended),
			want{step: StepConditions, outcome: OutcomeStanding}},
		"a node that came back after the deletion: never handled as a person's": {
			quiet(ended, deletedByPerson), drop.because(v1beta2.ReasonNodeGone)},
		"an instance manager that came back after the deletion": {
			quiet(heldBackFor(v1beta2.ReasonInstanceManagerGone), deletedByPerson), drop.because(v1beta2.ReasonInstanceManagerGone)},
	}.run(t)
}

func (w want) because(reason string) want { w.outcome, w.reason = reason, reason; return w }

func TestNotEvaluated(t *testing.T) {
	due := noon.Add(DefaultLimits().EvaluationWait - 10*time.Second)
	waits := want{requeueAt: due}.held(v1beta2.ReasonNotJudged)
	longAgo := deletedBefore(time.Hour)
	seenNow := func(w *World) { w.DeletionSeen = noon }
	expired := quiet(without(v1beta2.OrphanOrphaned), longAgo)
	table{
		"an orphan without evaluation stands, whatever the setting":    {quiet(without(v1beta2.OrphanOrphaned), autoDeletionOn), standing},
		"one that was deleted waits for the evaluation and reports it": {quiet(without(v1beta2.OrphanOrphaned), deletedByPerson), waits},
		"one that was deleted before this process ran waits as long": {quiet(without(v1beta2.OrphanOrphaned), longAgo, seenNow),
			want{requeueAt: noon.Add(DefaultLimits().EvaluationWait)}.held(v1beta2.ReasonNotJudged)},
		"one that gets its evaluation while it waits is approved": {quiet(deletedByPerson, heldBackFor(v1beta2.ReasonNotJudged)),
			approvedPerson},
		"Orphaned=False is no evaluation": {quiet(with(v1beta2.OrphanOrphaned, v1beta2.ConditionFalse,
			v1beta2.ReasonNoOwnerCR), deletedByPerson), waits},
		"one that never got any ends": {after(expired, Decide(expired)),
			want{step: StepDropFinalizer, outcome: v1beta2.ReasonNotJudged, approved: v1beta2.ConditionFalse,
				reason: v1beta2.ReasonNotJudged, event: EventEnded}},
		"a rule of a newer im-monitor is not executed by policy": {quiet(evaluatedBy("LostInSpace"), autoDeletionOn),
			want{outcome: OutcomeUnknown}},
		"a rule of a newer im-monitor is not approved for a person": {quiet(evaluatedBy("LostInSpace"), longAgo),
			want{}.held(v1beta2.ReasonNotJudged).as(OutcomeUnknown)},
		"an unknown type is left alone": {quiet(ofType("snapshot-instance"), autoDeletionOn),
			want{outcome: OutcomeUnknown}},
		"an unknown type that is deleted waits, and names what for": {quiet(ofType("snapshot-instance"), longAgo),
			want{}.held(v1beta2.ReasonNotJudged).as(OutcomeUnknown)},
	}.run(t)
}

// O10 [ORP-1].
func TestClaimed(t *testing.T) {
	const running, stopped = v1beta2.InstanceStateRunning, v1beta2.InstanceStateStopped
	refused := want{}.held(v1beta2.ReasonClaimed)
	engine := func(w *World) {
		w.Engine = &v1beta2.Engine{}
		w.Engine.Spec.DesireState, w.Engine.Status.InstanceManagerName = running, "im-1"
	}
	table{
		"a running CR in this instance manager refuses a person": {quiet(deletedByPerson, claim(running, "im-1", "node-1")), refused},
		"a CR that is to start on this node refuses, too":        {quiet(deletedByPerson, claim(running, "", "node-1")), refused},
		"a claim takes an approval back": {quiet(deletedByPerson, claim(running, "im-1", "node-1"),
			with(v1beta2.OrphanCleanupApproved, v1beta2.ConditionTrue, v1beta2.ReasonApproved)), refused},
		"a claim takes a policy's approval back; the reason stays": {quiet(deletedByPerson, autoDeletionOn, approvedByPolicy,
			claim(running, "im-1", "node-1")), want{policy: v1beta2.ReasonAutoDeletion}.held(v1beta2.ReasonClaimed)},
		"a claim stops a policy before it deletes":                    {quiet(autoDeletionOn, claim(running, "im-1", "node-1")), refused},
		"a claim on an orphan that is not deleted needs no condition": {quiet(claim(running, "im-1", "node-1")), standing},
		"a CR that runs in another instance manager does not claim": {quiet(deletedByPerson, claim(running, "im-2", "node-1")),
			approvedPerson},
		"a CR that is to start on another node does not claim": {quiet(deletedByPerson, claim(running, "", "node-2")), approvedPerson},
		"a stopped CR does not claim the runtime":              {quiet(deletedByPerson, claim(stopped, "", "node-1")), approvedPerson},
		"an engine's claim": {quiet(deletedByPerson, ofType(v1beta2.OrphanTypeEngineInstance),
			engine), refused},
		"an engine of the name does not claim a replica's instance": {quiet(deletedByPerson, engine), approvedPerson},
		"a claim that fell lets the deletion continue": {quiet(deletedByPerson, heldBackFor(v1beta2.ReasonClaimed)),
			approvedPerson},
	}.run(t)
}

func TestGracePeriod(t *testing.T) {
	due := noon.Add(time.Minute)
	waits := want{requeueAt: due}.held(v1beta2.ReasonGracePeriod)
	table{
		"auto deletion waits, and requeues exactly at the end": {quiet(autoDeletionOn, aged(4*time.Minute)), waits},
		"at the end it deletes": {quiet(autoDeletionOn, aged(5*time.Minute)),
			approvedPolicy(v1beta2.ReasonAutoDeletion)},
		"a grace period of zero does not wait": {quiet(autoDeletionOn, aged(0),
			func(w *World) { w.Settings.GracePeriod = 0 }), approvedPolicy(v1beta2.ReasonAutoDeletion)},
		"a longer grace period takes back what was not yet deleted": {quiet(autoDeletionOn, aged(4*time.Minute), approvedByPolicy), waits},
		"turned off during the grace period: cancelled": {quiet(heldBackFor(v1beta2.ReasonGracePeriod)),
			want{step: StepConditions, outcome: OutcomeStanding}},
		"what is deleted already does not wait again": {quiet(autoDeletionOn, aged(0), approvedByPolicy, deletedByPerson),
			want{outcome: v1beta2.ReasonApproved, approved: v1beta2.ConditionTrue, reason: v1beta2.ReasonApproved,
				policy: v1beta2.ReasonAutoDeletion}},
		"eviction does not wait": {quiet(evicting, aged(0)), approvedPolicy(v1beta2.ReasonEviction)},
		"an acknowledged orphan waits without losing its mark": {quiet(autoDeletionOn, aged(4*time.Minute),
			heldBackFor(v1beta2.ReasonAcknowledged)),
			want{step: StepConditions, outcome: v1beta2.ReasonGracePeriod, approved: v1beta2.ConditionFalse,
				reason: v1beta2.ReasonAcknowledged, requeueAt: due}},
	}.run(t)
}

// ORP-5: of instances without an object, policy deletes only abandoned ones.
func TestPolicyDeletesAnInstanceWithoutAnObjectOnlyIfItWasAbandoned(t *testing.T) {
	hold := want{}.held(v1beta2.ReasonNotAbandoned)
	auto := approvedPolicy(v1beta2.ReasonAutoDeletion)
	engine := func(w *World) {
		w.Orphan.Spec.OrphanType = v1beta2.OrphanTypeEngineInstance
		instanceNamed("vol-1-e-0")(w)
	}
	on := func(changes ...change) World {
		return quiet(append([]change{autoDeletionOn, replicaDataOn, neverGivenUp}, changes...)...)
	}
	table{
		"nothing is recorded":                          {on(), hold},
		"an engine that runs":                          {on(engine), hold},
		"an engine that was abandoned":                 {on(engine, givenUp("uuid-1", "v2")), auto},
		"data without a runtime":                       {on(evaluatedBy(v1beta2.ReasonDataOnly)), hold},
		"data on a disk, whose instance was abandoned": {on(onBlockDisk, givenUp("uuid-1", "v2")), hold},
		"data on a disk, of a volume with a PersistentVolume, which wants a whole copy": {on(onBlockDisk, persistentVolumeExists),
			want{}.held(v1beta2.ReasonLastCopy)},
		"exactly this instance was abandoned":  {on(givenUp("uuid-1", "v2")), auto},
		"a person gave exactly this orphan up": {on(acceptedAs("uid-1")), auto},
		"the grace period begins with a person's record": {on(acceptedAs("uid-1"), recordedBy("jane 2026-08-01T11:55:01Z")),
			want{requeueAt: noon.Add(time.Second)}.held(v1beta2.ReasonGracePeriod)},
		"a record of before the orphan shortens nothing": {on(acceptedAs("uid-1"), recordedBy("jane 2026-08-01T09:00:00Z"), aged(time.Minute)),
			want{requeueAt: noon.Add(4 * time.Minute)}.held(v1beta2.ReasonGracePeriod)},
		"a record without a time is none":                {on(acceptedAs("uid-1"), recordedBy("jane")), hold},
		"an engine that a person gave up":                {on(engine, acceptedAs("uid-1")), auto},
		"data on a disk that a person gave up":           {on(onBlockDisk, acceptedAs("uid-1")), auto},
		"a person gave an earlier orphan of the name up": {on(acceptedAs("uid-0")), hold},
		"a record without a UID is of no orphan":         {on(acceptedAs("")), hold},
		"eviction takes what a person gave up": {quiet(evicting, neverGivenUp, acceptedAs("uid-1")),
			approvedPolicy(v1beta2.ReasonEviction)},
		"data of another cluster is taken by no policy": {on(onBlockDisk, evaluatedBy(v1beta2.ReasonForeignData),
			acceptedAs("uid-1")), want{}.held(v1beta2.ReasonAcknowledged)},
		"the last copy is held although it was given up":    {on(volumeExists, acceptedAs("uid-1")), want{}.held(v1beta2.ReasonLastCopy)},
		"without auto deletion nothing follows":             {quiet(neverGivenUp, acceptedAs("uid-1")), want{outcome: OutcomeStanding}},
		"one of this name with another UUID was abandoned":  {on(givenUp("uuid-0", "v2")), hold},
		"one of this name of v1 was abandoned":              {on(givenUp("uuid-1", "v1")), hold},
		"a record without a UUID is of no instance":         {on(givenUp("", "v2")), hold},
		"an existing volume does not abandon an instance":   {on(volumeExists, another()), hold},
		"an engine without an object, of a volume with one": {on(engine, volumeExists), hold},
		"its own object stopped, and it still runs":         {on(volumeExists, claim(v1beta2.InstanceStateStopped, "", "node-1")), auto},
		"its own object names another node": {on(volumeExists, another(),
			claim(v1beta2.InstanceStateRunning, "im-2", "node-2")), auto},
		"data on a disk, of a volume with a whole copy": {on(onBlockDisk, volumeExists, another()), auto},
		"eviction holds it as auto deletion does":       {quiet(evicting, neverGivenUp), hold},
		"a person's deletion is approved":               {on(deletedByPerson), approvedPerson},
		"an engine uses a replica that no object names": {on(givenUp("uuid-1", "v2"), volumeExists, another(),
			func(w *World) { w.UsesUnnamed = "vol-1-e-0" }), want{}.held(v1beta2.ReasonMappedByEngine)},
	}.run(t)
}

// O12, O13 [UPG-1].
func TestLastCopy(t *testing.T) {
	hold := want{}.held(v1beta2.ReasonLastCopy)
	auto := approvedPolicy(v1beta2.ReasonAutoDeletion)
	on := func(changes ...change) World { return quiet(append([]change{autoDeletionOn}, changes...)...) }
	failed := func(c *Copy) { c.Replica.Spec.FailedAt = "2026-08-01T11:00:00Z" }
	table{
		"no volume and no persistent volume: the copy is not needed": {on(), auto},
		"a volume without another replica":                           {on(volumeExists), hold},
		"a persistent volume alone is enough":                        {on(persistentVolumeExists), hold},
		"another healthy replica runs":                               {on(volumeExists, another()), auto},
		"the other one has failed":                                   {on(volumeExists, another(failed)), hold},
		"the other one was never whole": {on(volumeExists,
			another(func(c *Copy) { c.Replica.Spec.HealthyAt = "" })), hold},
		"the other one is being deleted": {on(volumeExists,
			another(func(c *Copy) { at := metav1.NewTime(noon); c.Replica.DeletionTimestamp = &at })), hold},
		"the other one's node is down": {on(volumeExists,
			another(func(c *Copy) { c.Node = node("node-2", notReady(v1beta2.ReasonKubernetesNodeNotReady)) })), hold},
		"the other one's node cannot be reached for the moment": {on(volumeExists,
			another(func(c *Copy) { c.Node = node("node-2", notReady(v1beta2.ReasonInstanceManagerUnreachable)) })), hold},
		"nothing is known of the other one's node": {on(volumeExists,
			another(func(c *Copy) { c.Node = &v1beta2.Node{} })), hold},
		"the other one's node is gone": {on(volumeExists, another(func(c *Copy) { c.Node = nil })), hold},
		"the other one is not listed with its UUID, whatever is stored": {on(volumeExists, another(func(c *Copy) { c.Listed = false })),
			hold},
		"a detached volume has no instance that proves the other copy": {on(volumeDetached, another(func(c *Copy) { c.Listed = false })),
			hold},
		"an engine uses the other one": {on(volumeExists,
			another(func(c *Copy) { c.Listed, c.InUse = false, true })), auto},
		"one healthy copy among failed ones is enough": {on(volumeExists, another(failed), another(), another(failed)),
			auto},
		"the CR of this very instance is no other copy": {on(volumeExists,
			another(func(c *Copy) { c.Replica.Name = replica1 })), hold},
		"a Replica CR on this node claims the data, which stays": {on(volumeExists,
			claim(v1beta2.InstanceStateStopped, "", "node-1")), auto},
		"a Replica CR without a node claims the data, too": {on(volumeExists, claim(v1beta2.InstanceStateStopped, "", "")),
			auto},
		"a Replica CR on another node may not claim this data": {on(volumeExists,
			claim(v1beta2.InstanceStateRunning, "im-2", "node-2")), hold},
		"a name without a volume may be any volume's": {on(instanceNamed("whatever")), hold},
		"an engine is no copy":                        {on(volumeExists, ofType(v1beta2.OrphanTypeEngineInstance)), auto},
		"a v1 replica is held like a v2 one": {on(volumeExists,
			func(w *World) { w.Orphan.Spec.DataEngine = v1beta2.DataEngineV1 }), hold},
		"eviction obeys the same rule":            {quiet(evicting, volumeExists), hold},
		"an approval that was not used yet falls": {on(volumeExists, approvedByPolicy), hold},
		"an approval that is being carried out falls; the reason stays": {on(volumeExists, approvedByPolicy, deletedByPerson),
			want{policy: v1beta2.ReasonAutoDeletion}.held(v1beta2.ReasonLastCopy)},
		"with another healthy copy again it is given again": {on(volumeExists, another(), approvedByPolicy,
			heldBackFor(v1beta2.ReasonLastCopy), deletedByPerson), approvedPolicy(v1beta2.ReasonAutoDeletion)},
	}.run(t)

	t.Run("a person is warned in the approval's message", func(t *testing.T) {
		require.Contains(t, Decide(quiet(deletedByPerson, volumeExists)).Message, "may be its last copy")
	})
}

func TestFlood(t *testing.T) {
	const noOwner, dataOnly = v1beta2.ReasonNoOwnerCR, v1beta2.ReasonDataOnly
	hold := want{}.held(v1beta2.ReasonFlood)
	auto := approvedPolicy(v1beta2.ReasonAutoDeletion)
	of := func(instances int, changes ...change) World {
		return quiet(append([]change{autoDeletionOn, func(w *World) { w.NodeInstances = instances }}, changes...)...)
	}
	table{
		"ten of forty-nine at once are a flood":                  {of(49, siblings(9, noOwner, "", 0)), hold},
		"ten of fifty are exactly 20 % and no flood":             {of(50, siblings(9, noOwner, "", 0)), auto},
		"nine are never a flood":                                 {of(9, siblings(8, noOwner, "", 0)), auto},
		"of a node with an unknown number of instances, ten are": {of(0, siblings(9, noOwner, "", 0)), hold},
		"data only counts":                                       {of(20, siblings(9, dataOnly, "", 0), evaluatedBy(dataOnly)), hold},
		"a node that comes back after its volumes moved is none": {of(20,
			siblings(9, v1beta2.ReasonOwnedByOtherInstanceManager, "", 0)), auto},
		"nor are stopped CRs whose instances stayed": {of(20, siblings(9, v1beta2.ReasonStoppedButPresent, "", 0)), auto},
		"one that is owned elsewhere is not held by a flood of others": {of(20, siblings(9, noOwner, "", 0),
			evaluatedBy(v1beta2.ReasonOwnedByOtherInstanceManager)), auto},
		"those of the last minutes count as those of this moment": {of(20, siblings(5, noOwner, "", -2*time.Minute),
			siblings(4, noOwner, "", 2*time.Minute)), hold},
		"within the window":  {of(20, siblings(9, noOwner, "", 5*time.Minute)), hold},
		"outside the window": {of(20, siblings(9, noOwner, "", 5*time.Minute+time.Second)), auto},
		"the window reaches to both sides, but is one window": {
			of(20, siblings(5, noOwner, "", -200*time.Second), siblings(4, noOwner, "", 200*time.Second)), auto},
		"what counts is the fullest window around this one": {
			of(20, siblings(5, noOwner, "", -150*time.Second), siblings(4, noOwner, "", 150*time.Second)), hold},
		"acknowledged ones are not counted again": {of(20, siblings(9, noOwner, v1beta2.ReasonAcknowledged, 0)), auto},
		"an acknowledged one is not held again": {of(20, siblings(9, noOwner, v1beta2.ReasonFlood, 0),
			heldBackFor(v1beta2.ReasonAcknowledged)), auto},
		"what a person gave up is not counted": {of(20, siblings(9, noOwner, "", 0),
			func(w *World) { w.Siblings[0].GivenUp = true }), auto},
		"what a person gave up is not held": {of(20, siblings(9, noOwner, "", 0), acceptedAs("uid-1")), auto},
		"withdrawn ones are not counted": {of(20, siblings(9, noOwner, "", 0),
			func(w *World) { w.Siblings[0].Withdrawn = true }), auto},
		"this one is not counted twice": {of(20, siblings(9, noOwner, "", 0),
			func(w *World) { w.Siblings[0].UID = w.Orphan.UID }), auto},
		"one that was approved is not held any more": {of(20, siblings(9, noOwner, v1beta2.ReasonApproved, 0), approvedByPolicy),
			want{step: StepConditions, outcome: v1beta2.ReasonApproved, approved: v1beta2.ConditionTrue, reason: v1beta2.ReasonApproved,
				policy: v1beta2.ReasonAutoDeletion, confirm: true}.stored()},
		"eviction was asked for and is not held by a flood": {quiet(evicting, func(w *World) { w.NodeInstances = 20 },
			siblings(9, noOwner, "", 0)), approvedPolicy(v1beta2.ReasonEviction)},
		"a last copy is held as one": {of(20, siblings(9, noOwner, "", 0), volumeExists),
			want{}.held(v1beta2.ReasonLastCopy)},
	}.run(t)
}

// stored is the policy's approval with the fixture's message: only the deletion follows.
func (w want) stored() want {
	w.step, w.event = StepDelete, EventDeleted
	return w
}

// O13: turning auto deletion off acknowledges what was held; what is deleted already waits with a reason.
func TestAcknowledged(t *testing.T) {
	marked := want{step: StepConditions, outcome: v1beta2.ReasonAcknowledged, approved: v1beta2.ConditionFalse,
		reason: v1beta2.ReasonAcknowledged, event: EventHeld}
	silent := marked
	silent.event = EventNone
	fallen := marked
	fallen.policy = v1beta2.ReasonAutoDeletion
	table{
		"what a flood held becomes acknowledged": {quiet(heldBackFor(v1beta2.ReasonFlood)), marked},
		"what was held as a last copy becomes acknowledged": {quiet(heldBackFor(v1beta2.ReasonLastCopy), volumeExists),
			marked},
		"what was acknowledged stays so": {quiet(heldBackFor(v1beta2.ReasonAcknowledged)), silent},
		"a deletion that waited for the rate limit is cancelled": {quiet(heldBackFor(v1beta2.ReasonRateLimited)),
			want{step: StepConditions, outcome: OutcomeStanding}},
		"turned on again, what was acknowledged is deleted": {quiet(autoDeletionOn,
			heldBackFor(v1beta2.ReasonAcknowledged)), approvedPolicy(v1beta2.ReasonAutoDeletion)},
		"a last copy is held again": {quiet(autoDeletionOn, heldBackFor(v1beta2.ReasonAcknowledged),
			volumeExists), want{}.held(v1beta2.ReasonLastCopy)},
		"turned off while deleting: approval back, reason stays": {quiet(approvedByPolicy, deletedByPerson), fallen},
		"an eviction that was cancelled": {quiet(approvedByPolicy,
			with(v1beta2.OrphanDeletionReason, v1beta2.ConditionTrue, v1beta2.ReasonEviction), deletedByPerson),
			func() want { w := fallen; w.policy = v1beta2.ReasonEviction; return w }()},
		"an eviction that was cancelled while auto deletion is on continues": {quiet(autoDeletionOn, approvedByPolicy,
			heldBackFor(v1beta2.ReasonAcknowledged), deletedByPerson), approvedPolicy(v1beta2.ReasonAutoDeletion)},
		"an unreadable setting acknowledges nothing": {quiet(autoDeletionUnreadable,
			heldBackFor(v1beta2.ReasonFlood)), want{outcome: OutcomeStanding, approved: v1beta2.ConditionFalse,
			reason: v1beta2.ReasonFlood}},
		"an unreadable setting deletes nothing": {quiet(autoDeletionUnreadable), standing},
		"an unreadable setting stops what was not sent": {quiet(autoDeletionUnreadable, approvedByPolicy),
			want{step: StepConditions, outcome: OutcomeStanding}},
		"an unreadable setting holds what is under way": {quiet(autoDeletionUnreadable, approvedByPolicy,
			deletedByPerson), fallen},
		"a person's deletion needs no setting": {quiet(autoDeletionUnreadable, deletedByPerson),
			approvedPerson},
		"a policy's deletion that was held is never a person's [O17c]": {quiet(heldBackFor(v1beta2.ReasonLastCopy),
			with(v1beta2.OrphanDeletionReason, v1beta2.ConditionTrue, v1beta2.ReasonAutoDeletion), deletedByPerson), fallen},
	}.run(t)
}

func TestRateLimit(t *testing.T) {
	table{
		"ten under way on the node: the next waits": {quiet(autoDeletionOn, inFlight(10)), want{}.held(v1beta2.ReasonRateLimited)},
		"nine under way leave one free":             {quiet(autoDeletionOn, inFlight(9)), approvedPolicy(v1beta2.ReasonAutoDeletion)},
		"eviction waits for the rate limit, too":    {quiet(evicting, inFlight(10)), want{}.held(v1beta2.ReasonRateLimited)},
		"an approved one stays approved": {quiet(autoDeletionOn, inFlight(10), approvedByPolicy),
			want{outcome: v1beta2.ReasonApproved, approved: v1beta2.ConditionTrue, reason: v1beta2.ReasonApproved,
				policy: v1beta2.ReasonAutoDeletion, confirm: true}.stored()},
		"a person does not wait": {quiet(deletedByPerson, inFlight(10)), approvedPerson},
		"an acknowledged one waits and keeps its mark": {quiet(autoDeletionOn, inFlight(10), heldBackFor(v1beta2.ReasonAcknowledged)),
			want{step: StepConditions, outcome: v1beta2.ReasonRateLimited, approved: v1beta2.ConditionFalse,
				reason: v1beta2.ReasonAcknowledged}},
	}.run(t)
}

func TestDryRun(t *testing.T) {
	reported := want{}.held(v1beta2.ReasonDryRun)
	reported.event = EventWouldDelete
	table{
		"what would be deleted is reported":           {quiet(dryRunOn, autoDeletionOn), reported},
		"what eviction would delete is reported, too": {quiet(dryRunOn, evicting), reported},
		"during the grace period nothing would be": {quiet(dryRunOn, autoDeletionOn, aged(0)),
			want{requeueAt: noon.Add(5 * time.Minute)}.held(v1beta2.ReasonGracePeriod)},
		"a last copy would not be": {quiet(dryRunOn, autoDeletionOn, volumeExists),
			want{}.held(v1beta2.ReasonLastCopy)},
		"an approval of before the dry run is taken back": {quiet(dryRunOn, autoDeletionOn, approvedByPolicy), reported},
		"so is one that is being carried out": {quiet(dryRunOn, autoDeletionOn, approvedByPolicy, deletedByPerson),
			func() want { w := reported; w.policy = v1beta2.ReasonAutoDeletion; return w }()},
		"a person's deletion is no policy":              {quiet(dryRunOn, deletedByPerson), approvedPerson},
		"a replica directory's orphan would be deleted": {quiet(dryRunOn, replicaDataOn, ofType(v1beta2.OrphanTypeReplicaData)), reported},
	}.run(t)
}

// The data of a v2 replica on a block disk is destroyed by im-monitor, as an instance is deleted.
func TestDataOnABlockDisk(t *testing.T) {
	data := func(changes ...change) World { return quiet(append([]change{onBlockDisk}, changes...)...) }
	foreign := evaluatedBy(v1beta2.ReasonForeignData)
	auto := want{outcome: v1beta2.ReasonApproved, step: StepConditions, approved: v1beta2.ConditionTrue, reason: v1beta2.ReasonApproved,
		policy: v1beta2.ReasonAutoDeletion, event: EventApproved, confirm: true}
	table{
		"it stands while it is not deleted":         {data(), standing},
		"the item instance is not about it":         {data(autoDeletionOn), standing},
		"a person's deletion is approved":           {data(deletedByPerson), approvedPerson},
		"the item replica-data is":                  {data(replicaDataOn, volumeExists, another()), auto},
		"of a volume that does not exist it is not": {data(replicaDataOn), want{}.held(v1beta2.ReasonNotAbandoned)},
		"auto deletion waits for the grace period": {data(replicaDataOn, volumeExists, another(), aged(4*time.Minute)),
			want{requeueAt: noon.Add(time.Minute)}.held(v1beta2.ReasonGracePeriod)},
		"a last copy is held": {data(replicaDataOn, volumeExists), want{}.held(v1beta2.ReasonLastCopy)},
		"so is a flood of data": {data(replicaDataOn, volumeExists, another(), siblings(30, v1beta2.ReasonDataOnly, "", 0), ofData),
			want{}.held(v1beta2.ReasonFlood)},
		"instances of the same replicas are no flood of data": {data(replicaDataOn, volumeExists, another(),
			siblings(30, v1beta2.ReasonDataOnly, "", 0)), auto},
		"a Replica refuses it, whoever deleted it": {data(deletedByPerson, claim(v1beta2.InstanceStateStopped, "", "node-2")),
			want{}.held(v1beta2.ReasonClaimed)},
		"eviction of its node is no reason to destroy": {data(evicting), standing},
		"without DataCleanable nothing is approved": {data(deletedByPerson, without(v1beta2.OrphanDataCleanable)),
			want{}.held(v1beta2.ReasonNotJudged)},
		"nor is anything by policy": {data(replicaDataOn,
			with(v1beta2.OrphanDataCleanable, v1beta2.ConditionFalse, v1beta2.ReasonDiskInvalid)), standing},
		"policy does not delete data that came with its disk": {data(replicaDataOn, foreign), want{}.held(v1beta2.ReasonAcknowledged)},
		"neither as an instance":                              {quiet(autoDeletionOn, foreign), want{}.held(v1beta2.ReasonAcknowledged)},
		"nor for an eviction":                                 {quiet(evicting, foreign), want{}.held(v1beta2.ReasonAcknowledged)},
		"but a person's":                                      {data(deletedByPerson, foreign), approvedPerson},
		"that cannot be cleaned up any more ends without a call": {data(withdrawnFor(v1beta2.ReasonNotCleanable), deletedByPerson),
			want{step: StepDropFinalizer, outcome: OutcomeWithdrawn, event: EventWithdrawn}},
		"its node is gone": {data(nodeAbsent), want{}.ended(v1beta2.ReasonNodeGone)},
	}.run(t)
}

func TestAFloodNamesWhatItCounts(t *testing.T) {
	data := Decide(quiet(onBlockDisk, replicaDataOn, volumeExists, another(), siblings(30, v1beta2.ReasonDataOnly, "", 0), ofData)).Message
	require.Contains(t, data, "10 replicas' data on disks")
	require.Contains(t, data, "their Replica CRs")
	require.Contains(t, data, "the item replica-data")
	instances := Decide(quiet(autoDeletionOn, siblings(30, v1beta2.ReasonNoOwnerCR, "", 0))).Message
	require.Contains(t, instances, "10 instances")
	require.Contains(t, instances, "their Engine or Replica CRs")
}

// ofData makes the siblings orphans of data.
func ofData(w *World) {
	for i := range w.Siblings {
		w.Siblings[i].Data = true
	}
}

// O15: directories are outside this version; only their CR goes.
func TestReplicaData(t *testing.T) {
	data := func(changes ...change) World {
		return quiet(append([]change{ofType(v1beta2.OrphanTypeReplicaData), instanceManagerAbsent, without(v1beta2.OrphanOrphaned),
			without(v1beta2.OrphanInstanceState)}, changes...)...)
	}
	ends := want{}.ended(v1beta2.ReasonNoDataPath)
	auto := ends
	auto.policy = v1beta2.ReasonAutoDeletion
	reported := after(data(replicaDataOn), Decide(data(replicaDataOn)))
	table{
		"it stands while the item replica-data is missing": {data(autoDeletionOn), standing},
		"a person's deletion ends it without a call":       {data(deletedByPerson), ends},
		"auto deletion waits for the grace period": {data(replicaDataOn, aged(4*time.Minute)),
			want{requeueAt: noon.Add(time.Minute)}.held(v1beta2.ReasonGracePeriod)},
		"auto deletion first reports that the data stays": {data(replicaDataOn), auto},
		"then the CR is deleted": {reported,
			want{step: StepDelete, outcome: v1beta2.ReasonNoDataPath, approved: v1beta2.ConditionFalse, reason: v1beta2.ReasonNoDataPath,
				policy: v1beta2.ReasonAutoDeletion, event: EventEnded, confirm: true}},
		"turned off in between it stands again": {func() World { w := reported; w.Settings.ReplicaData = Off; return w }(),
			want{step: StepConditions, outcome: OutcomeStanding}},
		"eviction of its node leaves it: the data is there": {data(evicting), standing},
		"its node is gone": {data(nodeAbsent), want{}.ended(v1beta2.ReasonNodeGone)},
	}.run(t)
}

// What a policy deleted cannot be deleted again: a person gives the word on the object, for exactly this one.
func TestAPersonReleasesWhatAPolicyDeletedAndHoldsBack(t *testing.T) {
	byPolicy := func(w *World) { approvedByPolicy(w); deletedByPerson(w); w.Orphan.Namespace = "longhorn-system" }
	for name, held := range map[string]World{
		v1beta2.ReasonLastCopy:     quiet(autoDeletionOn, byPolicy, volumeExists),
		v1beta2.ReasonAcknowledged: quiet(onBlockDisk, replicaDataOn, byPolicy, evaluatedBy(v1beta2.ReasonForeignData)),
		v1beta2.ReasonMappedByEngine: quiet(autoDeletionOn, byPolicy, volumeExists, neverGivenUp,
			func(w *World) { w.UsesUnnamed = "vol-1-e-0" }),
		"auto deletion off": quiet(byPolicy),
		"dry run":           quiet(autoDeletionOn, byPolicy, dryRunOn),
	} {
		t.Run(name, func(t *testing.T) {
			v := Decide(held)
			require.Equal(t, StepConditions, v.Step)
			require.True(t, conditions.IsFalse(v.Conditions, v1beta2.OrphanCleanupApproved))
			require.NotContains(t, v.Message, "Delete the orphan by hand", "it is deleted already")
			if slices.Contains([]string{v1beta2.ReasonLastCopy, v1beta2.ReasonAcknowledged, v1beta2.ReasonMappedByEngine}, name) {
				require.Equal(t, name, v.Outcome)
				require.Contains(t, v.Message,
					"kubectl -n longhorn-system annotate orphans.longhorn.io orphan-1 drover.dev/delete-by-hand=uid-1")
			}
			held = after(held, v)
			require.Equal(t, StepNone, Decide(held).Step)
			held.Orphan.Annotations = map[string]string{v1beta2.AnnotationDeleteByHand: "uid-2"}
			require.Equal(t, StepNone, Decide(held).Step, "that is about another orphan")
			held.Orphan.Annotations[v1beta2.AnnotationDeleteByHand] = "uid-1"
			v = Decide(held)
			require.True(t, conditions.IsTrue(v.Conditions, v1beta2.OrphanCleanupApproved))
			require.NotNil(t, conditions.Get(v.Conditions, v1beta2.OrphanDeletionReason), "who deleted it stays on record")
		})
	}
	t.Run("what an object claims stays", func(t *testing.T) {
		w := quiet(autoDeletionOn, byPolicy)
		w.Orphan.Annotations = map[string]string{v1beta2.AnnotationDeleteByHand: "uid-1"}
		w.Replica = &v1beta2.Replica{Spec: v1beta2.ReplicaSpec{NodeID: "node-1", DesireState: v1beta2.InstanceStateRunning}}
		require.Equal(t, v1beta2.ReasonClaimed, Decide(w).Outcome)
	})
	t.Run("the word alone deletes nothing", func(t *testing.T) {
		w := quiet(autoDeletionOn, volumeExists)
		w.Orphan.Annotations = map[string]string{v1beta2.AnnotationDeleteByHand: "uid-1"}
		v := Decide(w)
		require.Equal(t, v1beta2.ReasonLastCopy, v.Outcome)
		require.Contains(t, v.Message, "Delete the orphan by hand if the copy is not needed.")
	})
}
