package certificate

import (
	"bytes"
	"slices"
	"time"
)

// settle is how long a new certificate is trusted before it is served, at most: the API server, and each of several, learns of
// a changed configuration by a watch.
const settle = time.Minute

// World is what is known.
type World struct {
	Now time.Time
	// Serving and Next are pairs of the Secret; empty and unreadable ones, and those that are not valid yet, are none. Previous is a
	// certificate.
	Serving, Next Pair
	Previous      []byte
	// Bundles is what each webhook of the configurations trusts; none: there is no configuration.
	Bundles [][]byte
	// Hosts are whom a certificate must be for, Validity how long one is.
	Hosts    []string
	Validity time.Duration
}

// Step is the one thing to do.
type Step string

// The steps.
const (
	StepNone Step = "None"
	// StepIssue makes a pair that is served at once: there is none that could be.
	StepIssue Step = "Issue"
	// StepIssueNext makes the next pair.
	StepIssueNext Step = "IssueNext"
	// StepPromote serves the next pair; the one before becomes the previous.
	StepPromote Step = "Promote"
	// StepTrust writes the bundle into the configurations.
	StepTrust Step = "Trust"
)

// Verdict is what to do now.
type Verdict struct {
	Step Step
	// Bundle is what the configurations are to trust.
	Bundle []byte
	// RequeueAt is when to decide again, with StepNone; zero: when something happens.
	RequeueAt time.Time
}

// Decide returns the next step.
func Decide(w World) Verdict {
	if len(w.Bundles) == 0 {
		return Verdict{Step: StepNone} // no configuration calls the webhook, so none needs to trust it
	}
	serving, next := facts(w.Serving, w.Now), facts(w.Next, w.Now)
	if serving == nil || !w.Now.Before(serving.Ends) {
		return Verdict{Step: StepIssue}
	}
	bundle := w.bundle(next)
	if slices.ContainsFunc(w.Bundles, func(is []byte) bool { return !bytes.Equal(is, bundle) }) {
		return Verdict{Step: StepTrust, Bundle: bundle}
	}
	if next != nil {
		if due := next.Made.Add(min(settle, w.Validity/10)); w.Now.Before(due) {
			return Verdict{Step: StepNone, Bundle: bundle, RequeueAt: due}
		}
		return Verdict{Step: StepPromote, Bundle: bundle}
	}
	due := serving.Made.Add(serving.Ends.Sub(serving.Made) / 2)
	if w.Now.Before(due) && w.covered(serving) {
		return Verdict{Step: StepNone, Bundle: bundle, RequeueAt: due}
	}
	return Verdict{Step: StepIssueNext, Bundle: bundle}
}

// bundle is every certificate that is, will be, or a moment ago was served.
func (w World) bundle(next *Facts) []byte {
	out := slices.Clone(w.Serving.Certificate)
	if next != nil {
		out = append(out, w.Next.Certificate...)
	}
	return append(out, w.Previous...)
}

func (w World) covered(f *Facts) bool {
	for _, host := range w.Hosts {
		if !slices.Contains(f.Hosts, host) {
			return false
		}
	}
	return true
}
