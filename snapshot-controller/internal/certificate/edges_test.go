package certificate

import (
	"bytes"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// quiet is a world without a step: the first pair is served and trusted.
func quiet(t *testing.T, at time.Time) World {
	t.Helper()
	first := pair(t, start)
	return World{Now: at, Serving: first, Hosts: hosts, Validity: validity, Bundles: [][]byte{first.Certificate}}
}

func read(t *testing.T, p Pair) *x509.Certificate {
	t.Helper()
	block, rest := pem.Decode(p.Certificate)
	require.NotNil(t, block)
	require.Empty(t, rest)
	c, err := x509.ParseCertificate(block.Bytes)
	require.NoError(t, err)
	return c
}

// The moments at which another step is due belong to that step: none is skipped, and none comes a second early.
func TestEachStepIsDueFromItsMomentOn(t *testing.T) {
	second := pair(t, days(45))
	for sentence, c := range map[string]struct {
		at   time.Time
		next bool
		step Step
	}{
		"a second before half of its time it stays":         {days(45).Add(-time.Second), false, StepNone},
		"at half of its time the next is made":              {days(45), false, StepIssueNext},
		"a second before its end the next is made":          {days(90).Add(-time.Second), false, StepIssueNext},
		"at its end one is served at once":                  {days(90), false, StepIssue},
		"the next is only trusted before a minute is over":  {days(45).Add(settle - time.Second), true, StepNone},
		"it is served when the minute is over":              {days(45).Add(settle), true, StepPromote},
		"an expired one is replaced although a next exists": {days(90), true, StepIssue},
	} {
		t.Run(sentence, func(t *testing.T) {
			w := quiet(t, c.at)
			if c.next {
				w.Next, w.Bundles = second, [][]byte{bundle(w.Serving.Certificate, second.Certificate)}
			}
			v := Decide(w)
			require.Equal(t, c.step, v.Step)
			require.Equal(t, v, Decide(w), "the same facts give the same step")
			require.Equal(t, c.step == StepNone, !v.RequeueAt.IsZero(), "it waits for a time only where nothing is to be done")
		})
	}
}

// With a short validity the wait before a next one is served is a tenth of it, so that it is served before the other ends.
func TestAShortLifeHasAShortWait(t *testing.T) {
	const short = 100 * time.Second
	first, err := Issue(rand.Reader, hosts, start, short)
	require.NoError(t, err)
	made := start.Add(50 * time.Second)
	next, err := Issue(rand.Reader, hosts, made, short)
	require.NoError(t, err)
	w := World{Now: made, Serving: first, Next: next, Hosts: hosts, Validity: short,
		Bundles: [][]byte{bundle(first.Certificate, next.Certificate)}}
	require.Equal(t, made.Add(10*time.Second), Decide(w).RequeueAt)
	w.Now = made.Add(10 * time.Second)
	require.Equal(t, StepPromote, Decide(w).Step)
}

// A clock that is behind by no more than the backdate makes the wait longer; it neither replaces a certificate nor serves one that is not
// trusted yet.
func TestAClockThatIsSetBackALittleOnlyWaits(t *testing.T) {
	w := quiet(t, start.Add(-backdate))
	require.Equal(t, Verdict{Step: StepNone, Bundle: w.Serving.Certificate, RequeueAt: days(45)}, Decide(w))
	w.Next = pair(t, start)
	w.Bundles = [][]byte{bundle(w.Serving.Certificate, w.Next.Certificate)}
	require.Equal(t, Verdict{Step: StepNone, Bundle: w.Bundles[0], RequeueAt: start.Add(settle)}, Decide(w))
}

// What a leader made whose clock was ahead is refused by every client: it counts as none until real time has reached it.
func TestACertificateThatIsNotValidYetIsNone(t *testing.T) {
	ahead := days(2 * 365)
	serves := func(w *World) { w.Serving = pair(t, ahead); w.Bundles = [][]byte{w.Serving.Certificate} }
	follows := func(w *World) { w.Next = pair(t, ahead) }
	valid := ahead.Add(-backdate)
	for sentence, c := range map[string]struct {
		at     time.Time
		change func(*World)
		step   Step
	}{
		"one two years ahead is replaced at once":        {start, serves, StepIssue},
		"so is one that is valid in a second":            {valid.Add(-time.Second), serves, StepIssue},
		"from the moment at which it is valid it stays":  {valid, serves, StepNone},
		"a next one two years ahead is made again":       {days(45), follows, StepIssueNext},
		"not before it is due":                           {days(44), follows, StepNone},
		"however young, it does not save an expired one": {days(90), follows, StepIssue},
		"one ahead is replaced though the next is valid": {start, func(w *World) { serves(w); w.Next = pair(t, start) }, StepIssue},
	} {
		t.Run(sentence, func(t *testing.T) {
			w := quiet(t, c.at)
			c.change(&w)
			require.Equal(t, c.step, Decide(w).Step)
		})
	}
	w := quiet(t, days(44))
	w.Next, w.Bundles = pair(t, ahead), [][]byte{bundle(w.Serving.Certificate, []byte("next"))}
	require.Equal(t, Verdict{Step: StepTrust, Bundle: w.Serving.Certificate}, Decide(w), "nor is it trusted")
}

// A leader whose clock is right again replaces what was made before, has it trusted, and stays with it.
func TestALeaderReplacesWhatAClockAheadMade(t *testing.T) {
	w := World{Now: start, Hosts: hosts, Validity: validity, Serving: pair(t, days(2*365)), Next: pair(t, days(3*365))}
	w.Bundles = [][]byte{bundle(w.Serving.Certificate, w.Next.Certificate)}
	require.Equal(t, Verdict{Step: StepIssue}, Decide(w))
	w.Serving, w.Next = pair(t, start), Pair{}
	require.Equal(t, Verdict{Step: StepTrust, Bundle: w.Serving.Certificate}, Decide(w))
	w.Bundles = [][]byte{w.Serving.Certificate}
	require.Equal(t, Verdict{Step: StepNone, Bundle: w.Serving.Certificate, RequeueAt: days(45)}, Decide(w))
}

func TestWhatIsServedIsForEveryHost(t *testing.T) {
	for sentence, c := range map[string]struct {
		wanted []string
		step   Step
	}{
		"for fewer than it names it stays":              {hosts[:1], StepNone},
		"in another order it stays":                     {[]string{hosts[1], hosts[0]}, StepNone},
		"one host that it lacks is enough for another":  {append([]string{"new.system.svc"}, hosts...), StepIssueNext},
		"an address that it lacks is, too":              {append([]string{"10.0.0.1"}, hosts...), StepIssueNext},
		"a name is no part of a longer name":            {[]string{"hook.system"}, StepIssueNext},
		"where none is wanted none is missing, as well": {nil, StepNone},
	} {
		t.Run(sentence, func(t *testing.T) {
			w := quiet(t, start)
			w.Hosts = c.wanted
			require.Equal(t, c.step, Decide(w).Step)
		})
	}
}

// A pair of two halves is none: a server with it would be refused by every client.
func TestAKeyOfAnotherCertificateIsNoPair(t *testing.T) {
	w := quiet(t, start)
	w.Serving.Key = pair(t, start).Key
	require.Equal(t, Verdict{Step: StepIssue}, Decide(w))
	w = quiet(t, days(45))
	w.Next = Pair{Certificate: pair(t, days(45)).Certificate, Key: w.Serving.Key}
	require.Equal(t, Verdict{Step: StepIssueNext, Bundle: w.Serving.Certificate}, Decide(w), "nor is it trusted")
	_, err := w.Next.Load()
	require.ErrorContains(t, err, "reading the webhook's certificate: ")
}

// What is decided by is read even where the runtime keeps no parsed certificate (GODEBUG=x509keypairleaf=0).
func TestTheFactsAreReadWithoutALeaf(t *testing.T) {
	unsorted := []string{"z.svc", "a.svc", "127.0.0.1"}
	p, err := Issue(rand.Reader, unsorted, start, validity)
	require.NoError(t, err)
	want := &Facts{Made: start, Ends: days(90), Hosts: []string{"127.0.0.1", "a.svc", "z.svc"}}
	require.Equal(t, want, facts(p, start))
	t.Setenv("GODEBUG", "x509keypairleaf=0")
	require.Equal(t, want, facts(p, start))
	require.Nil(t, facts(Pair{}, start), "unknown is not a certificate without hosts")
}

func TestACertificateIsValidAWhileBeforeItIsMade(t *testing.T) {
	c := read(t, pair(t, start))
	require.Equal(t, start.Add(-5*time.Minute), c.NotBefore, "clocks differ")
	require.Equal(t, days(90), c.NotAfter)
	require.Equal(t, hosts[0], c.Subject.CommonName)
	require.Equal(t, []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, c.ExtKeyUsage)
	require.NoError(t, c.CheckSignatureFrom(c), "it signs itself")
	require.NotEqual(t, c.SerialNumber, read(t, pair(t, start)).SerialNumber, "two of one moment are two")
}

// Without randomness there is no pair at all, and the error names what could not be made.
func TestWithoutRandomnessNothingIsMade(t *testing.T) {
	broken := errors.New("no entropy")
	for _, enough := range []int{0, 1, 8} {
		random := io.MultiReader(bytes.NewReader(make([]byte, enough)), failing{broken})
		p, err := Issue(random, hosts, start, validity)
		require.ErrorIs(t, err, broken)
		require.ErrorContains(t, err, "of the webhook")
		require.Zero(t, p)
	}
}

// failing is a source of randomness that has none left.
type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }
