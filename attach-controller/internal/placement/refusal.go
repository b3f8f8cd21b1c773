package placement

import (
	"fmt"
	"strings"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/text"
)

// Refusal is why no disk is suitable: a reason of v1beta2.VolumeScheduled, and a message with counts.
type Refusal struct{ Reason, Message string }

// stage is the filter that refused a candidate; a later one came further.
type stage int

const (
	fits stage = iota
	stageOnlyNode
	stageNotReady
	stageNotAllowed
	stageEvicting
	stageUpgrading
	stageCordoned
	stageNoManager
	stageNoImage
	stageNodeTags
	stageOtherEngine
	stageDiskNotAllowed
	stageDiskNotReady
	stageDiskTags
	stageSpace
	stageAffinity
	stages
)

var words = [stages]struct{ reason, what string }{
	stageOnlyNode:       {v1beta2.ReasonNoUsableNode, "not the node that it must be on"},
	stageNotReady:       {v1beta2.ReasonNoUsableNode, "not ready"},
	stageNotAllowed:     {v1beta2.ReasonNoUsableNode, "spec.allowScheduling is false"},
	stageEvicting:       {v1beta2.ReasonNoUsableNode, "being evicted"},
	stageUpgrading:      {v1beta2.ReasonNoUsableNode, "its data engine is being upgraded"},
	stageCordoned:       {v1beta2.ReasonNoUsableNode, "cordoned"},
	stageNoManager:      {v1beta2.ReasonNoUsableNode, "no running instance manager of the data engine"},
	stageNoImage:        {v1beta2.ReasonNoUsableNode, "lacks the engine image"},
	stageNodeTags:       {v1beta2.ReasonTagsNotFound, "lacks the node tags"},
	stageOtherEngine:    {v1beta2.ReasonNoUsableDisk, "no disk of the kind that the data engine uses"},
	stageDiskNotAllowed: {v1beta2.ReasonNoUsableDisk, "disk not allowed or being evicted"},
	stageDiskNotReady:   {v1beta2.ReasonNoUsableDisk, "disk not ready"},
	stageDiskTags:       {v1beta2.ReasonTagsNotFound, "lacks the disk tags"},
	stageSpace:          {v1beta2.ReasonInsufficientSpace, "too little space"},
	stageAffinity:       {v1beta2.ReasonAntiAffinity, "has a replica of the volume on its node, zone or disk"},
}

// namesShown is how many candidates a message names of each kind.
const namesShown = 3

func (s *search) refuse(at stage, name string) {
	s.counts[at]++
	if len(s.names[at]) < namesShown {
		s.names[at] = append(s.names[at], name)
	}
}

// refusal returns the reason of the candidates that came furthest, and counts all.
func (s *search) refusal(nodes int) Refusal {
	if nodes == 0 {
		return Refusal{v1beta2.ReasonNoUsableNode, "There is no Node."}
	}
	var out Refusal
	var parts []string
	for at := range stages {
		if s.counts[at] == 0 {
			continue
		}
		out.Reason = words[at].reason
		names := strings.Join(s.names[at], ", ")
		if s.counts[at] > len(s.names[at]) {
			names += ", …"
		}
		parts = append(parts, fmt.Sprintf("%d %s (%s)", s.counts[at], words[at].what, names))
	}
	out.Message = fmt.Sprintf("No place for a replica of %s: %s.", text.Bytes(s.Size), strings.Join(parts, "; "))
	if s.counts[stageSpace] > 0 {
		out.Message += fmt.Sprintf(" The best disk lacks %s.", text.Bytes(s.lacks))
		if s.copied {
			out.Message += " Room that rebuilds take is free again only once they have ended."
		}
	}
	return out
}
