package plan

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/conditions"
	"drover.dev/drover/shared/upgrade/preflight"
	"drover.dev/drover/upgrade-controller/internal/nodeupgrade"
)

// initializing checks the image on every node, lets every binary try its requests, then collects every blocker of every node. One
// blocker is enough for a refusal, and nothing has been changed then.
func (p *pass) initializing() {
	if p.Manager.Spec.Abort {
		p.fail(v1beta2.ReasonAborted, "It was aborted before a node was changed.")
		return
	}
	if !p.withoutGone() {
		return
	}
	nodes := p.left(p.Cluster.Order(p.Manager.Spec.Nodes))
	if p.checking(nodes) || p.unseen() || p.awaitsRehearsals() {
		return
	}
	var found []preflight.Blocker
	for _, node := range nodes {
		found = append(found, preflight.Blockers(preflight.World{
			Node: node, Cluster: p.Cluster, Target: p.status.InstanceManagerImage,
			Image: preflight.Image{Missing: p.Images[node].Missing}, Skip: p.Manager.Spec.SkipVolumes,
		})...)
	}
	found = append(found, p.refusedRequests()...)
	if p.passing(found) || !p.confirmed() {
		return
	}
	if len(found) > 0 {
		sentence := preflight.Sentence(found)
		p.condition(v1beta2.UpgradePreflight, v1beta2.ConditionFalse, v1beta2.ReasonUpgradeBlocked, sentence)
		p.fail(v1beta2.ReasonUpgradeBlocked, sentence)
		return
	}
	if p.status.UpgradeNodes == nil {
		p.status.UpgradeNodes = map[string]v1beta2.UpgradeNodeStatus{}
	}
	for _, node := range nodes {
		if _, planned := p.status.UpgradeNodes[node]; !planned {
			p.status.UpgradeNodes[node] = v1beta2.UpgradeNodeStatus{}
		}
	}
	passed := fmt.Sprintf("Nothing blocks the upgrade of %d node(s).", len(nodes))
	if p.status.ExcludedNodes = p.excluded(); len(p.status.ExcludedNodes) > 0 {
		passed += " " + leftOut(p.status.ExcludedNodes)
	}
	p.condition(v1beta2.UpgradePreflight, v1beta2.ConditionTrue, v1beta2.ReasonPassed, passed)
	p.to(v1beta2.UpgradeStateUpgrading)
	p.move(v1beta2.ReasonUpgradingNode, "The first node is next.")
}

// left are the nodes that are not finished and were not removed from the cluster after they were planned.
func (p *pass) left(nodes []string) []string {
	var out []string
	for _, node := range nodes {
		if !slices.Contains(p.status.UpgradedNodes, node) && !p.stillGone(node) {
			out = append(out, node)
		}
	}
	return out
}

// checking starts a pod with the image on each node, and reports whether one has not reported yet. A pod that does not report in
// the timeout of initializing counts as unable to run the image.
func (p *pass) checking(nodes []string) bool {
	var asked, silent []string
	for _, node := range nodes {
		seen := p.Cluster.Nodes[node]
		if !seen.Exists() || seen.Down() || seen.Upgraded(p.status.InstanceManagerImage) {
			continue
		}
		switch {
		case !p.Images[node].Known:
			silent = append(silent, node)
			asked = append(asked, node)
		case p.Images[node].Missing != "":
			asked = append(asked, node)
		}
	}
	deadline := p.checkedSince().Add(nodeupgrade.Timeout(p.Manager, v1beta2.UpgradeStateInitializing))
	if len(silent) == 0 {
		return false
	}
	if !p.Now.Before(deadline) {
		p.presume(silent)
		return false
	}
	p.verdict.Check = asked
	p.requeueAt(deadline)
	message := fmt.Sprintf("Pods check whether the image %s runs on: %s.", p.status.InstanceManagerImage, strings.Join(silent, ", "))
	p.condition(v1beta2.UpgradePreflight, v1beta2.ConditionFalse, v1beta2.ReasonCheckingImages, message)
	p.move(v1beta2.ReasonCheckingImages, message)
	return true
}

// unseen reports whether the instances of a volume are not known at the moment. That is no lasting blocker. It is not waited for
// longer than for the images.
func (p *pass) unseen() bool {
	deadline := p.checkedSince().Add(nodeupgrade.Timeout(p.Manager, v1beta2.UpgradeStateInitializing))
	names := p.Cluster.Unseen()
	if len(names) == 0 || !p.Now.Before(deadline) {
		return false
	}
	p.requeueAt(deadline)
	message := fmt.Sprintf("The instances of %s are not known at the moment; im-monitor reports them once it reads them. Check the "+
		"InstanceManagers of their nodes.", preflight.Names(names))
	p.condition(v1beta2.UpgradePreflight, v1beta2.ConditionFalse, v1beta2.ReasonCheckingImages, message)
	p.move(v1beta2.ReasonCheckingImages, message)
	return true
}

// passing reports whether only work that ends by itself blocks the upgrade. It is not waited for longer than for the images.
func (p *pass) passing(found []preflight.Blocker) bool {
	deadline := p.checkedSince().Add(nodeupgrade.Timeout(p.Manager, v1beta2.UpgradeStateInitializing))
	if len(found) == 0 || !p.Now.Before(deadline) ||
		slices.ContainsFunc(found, func(b preflight.Blocker) bool { return !b.Kind.Passes() }) {
		return false
	}
	p.requeueAt(deadline)
	p.condition(v1beta2.UpgradePreflight, v1beta2.ConditionFalse, v1beta2.ReasonCheckingImages, preflight.Sentence(found))
	p.move(v1beta2.ReasonCheckingImages, preflight.Sentence(found))
	return true
}

// checkedSince is when the check of images began: the time at which Preflight became False for it.
func (p *pass) checkedSince() time.Time {
	checking := conditions.Get(p.Manager.Status.Conditions, v1beta2.UpgradePreflight)
	if checking == nil || checking.Reason != v1beta2.ReasonCheckingImages && checking.Reason != v1beta2.ReasonTryingRequests {
		return p.Now
	}
	since, err := time.Parse(time.RFC3339, checking.LastTransitionTime)
	if err != nil {
		return p.Now
	}
	return since
}

func (p *pass) presume(silent []string) {
	images := map[string]Image{}
	for node, image := range p.Images {
		images[node] = image
	}
	for _, node := range silent {
		images[node] = Image{Known: true, Missing: "the pod that runs it did not start in time."}
	}
	p.Images = images
}
