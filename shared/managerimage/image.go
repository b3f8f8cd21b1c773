// Package managerimage finds by the reference of an instance-manager image how a pod of that image is started: which script it
// has, which options that script knows, on which ports it speaks TLS, and whether the end of its pod removes the block devices of
// its node. Nothing of that can be asked of an image before it runs, and an option that its scripts do not know ends the pod.
package managerimage

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Profile names the arguments that start the v2 data engine of an image.
type Profile string

// The profiles.
const (
	// Direct starts the script instance-manager. Every image from v1.10.0 on has it and knows its options, so an image of unknown
	// release is started like this.
	Direct Profile = "direct"
	// Wrapper starts the script start-spdk-tgt, which also takes a number of cores, pool sizes and CPU isolation.
	Wrapper Profile = "wrapper"
	// WrapperWithoutSmallPool is Wrapper without the option for the small I/O buffers.
	WrapperWithoutSmallPool Profile = "wrapper-without-small-pool"
	// Refused starts no v2 data engine.
	Refused Profile = "refused"
)

// TLS reports on which ports an image speaks TLS while its pod has the files.
type TLS int

const (
	// TLSUnknown stands for an image whose release is unknown.
	TLSUnknown TLS = iota
	// TLSProxyAndInstances is TLS on the ports 8501 and 8503 alone: 8500, 8502 and 8504 are plaintext.
	TLSProxyAndInstances
	// TLSEverywhere is TLS on all ports.
	TLSEverywhere
)

// Image is the knowledge about one image.
type Image struct {
	Reference string
	// Profile starts its v2 data engine; Refusal is a sentence that explains the profile Refused, and is empty otherwise.
	Profile Profile
	Refusal string
	TLS     TLS
	// RemovesDevices reports whether the end of a v2 pod removes the block devices of its node, or may end before SPDK does. A live
	// upgrade cannot replace such a pod.
	RemovesDevices bool

	release release
	dated   bool // release is known
}

// Describe finds the profile of an image by its declaration, else by its tag. Declared are the operator's profiles by reference,
// exactly as the reference is written.
func Describe(reference string, declared map[string]Profile) Image {
	out := Image{Reference: reference, Profile: Direct}
	if r, ok := parse(tagOf(reference)); ok {
		out.release, out.dated = r, true
		out.Profile, out.TLS, out.RemovesDevices = r.profile(), r.tls(), r.removesDevices()
	}
	if out.Profile == Refused {
		out.Refusal = "Image " + reference + " has no engine frontends: v2 volumes need an image of Longhorn 1.12.0 or newer."
	}
	profile, ok := declared[reference]
	if !ok {
		return out
	}
	out.Profile, out.Refusal = profile, ""
	switch {
	case profile == Refused:
		out.Refusal = "Image " + reference + " is declared as refused for v2: name another default-instance-manager-image, or change " +
			"the flag --v2-image-profiles."
	case !out.dated && profile == Wrapper:
		out.TLS = TLSEverywhere // the small pool came after TLS on all ports
	}
	return out
}

// OlderThan reports whether both releases are known and this one came before the other.
func (i Image) OlderThan(other Image) bool {
	return i.dated && other.dated && i.release.compare(other.release) < 0
}

// tagOf returns the tag of a reference without its digest: the text behind the last colon after the last slash. The colon before a
// registry's port is no tag.
func tagOf(reference string) string {
	name, _, _ := strings.Cut(reference, "@")
	_, tag, _ := strings.Cut(name[strings.LastIndex(name, "/")+1:], ":")
	return tag
}

// release is the version that a tag names.
type release struct {
	major, minor, patch int
	// stage orders what leads to a release: builds in development, then candidates, then the release and its revisions.
	stage stage
	// build is the number of a candidate, or the date of a build in development; 0 if the tag has none.
	build int
}

type stage int

const (
	development stage = iota
	candidate
	released
)

var (
	tagPattern  = regexp.MustCompile(`^v?(\d{1,6})\.(\d{1,6})\.(\d{1,6})(?:-(.+))?$`)
	devPattern  = regexp.MustCompile(`^dev(?:$|[-.])(?:(\d{8})(?:$|\D))?`)
	rcPattern   = regexp.MustCompile(`^rc[-.]?(\d{0,4})(?:$|\D)`)
	headPattern = regexp.MustCompile(`(^|[-.])head($|[-.])`)
)

func parse(tag string) (release, bool) {
	parts := tagPattern.FindStringSubmatch(tag)
	if parts == nil || headPattern.MatchString(parts[4]) {
		return release{}, false
	}
	out := release{major: number(parts[1]), minor: number(parts[2]), patch: number(parts[3]), stage: released}
	if dev := devPattern.FindStringSubmatch(parts[4]); dev != nil {
		out.stage, out.build = development, number(dev[1])
	} else if rc := rcPattern.FindStringSubmatch(parts[4]); rc != nil {
		out.stage, out.build = candidate, number(rc[1])
	}
	return out, true
}

// number reads digits that a pattern has bounded; no digits are 0.
func number(digits string) int {
	n, err := strconv.Atoi(digits)
	if err != nil {
		return 0
	}
	return n
}

func (r release) compare(other release) int {
	return cmp.Or(cmp.Compare(r.major, other.major), cmp.Compare(r.minor, other.minor), cmp.Compare(r.patch, other.patch),
		cmp.Compare(r.stage, other.stage), cmp.Compare(r.build, other.build))
}

// since reports whether a release is major.minor.patch or newer, where builds that lead to it count as it.
func (r release) since(major, minor, patch int) bool {
	return cmp.Or(cmp.Compare(r.major, major), cmp.Compare(r.minor, minor), cmp.Compare(r.patch, patch)) >= 0
}

// Builds in development carry their date.
const (
	firstFrontendBuild = 20260419 // the first one of 1.12.0 with engine frontends
	lastRemovingBuild  = 20260517 // the last one whose preStop hook removes devices
	firstTLSBuild      = 20260614 // the first one after 1.12.0 with TLS on all ports
	lastDirectBuild    = 20260712 // the last one of 1.13.0 before start-spdk-tgt knew all of its options
)

// is reports whether a release is major.minor.patch, or a build or revision of it.
func (r release) is(major, minor, patch int) bool {
	return r.major == major && r.minor == minor && r.patch == patch
}

// profile returns the profile of a release. If a build is not certain to know an option it is Direct, which every release knows.
func (r release) profile() Profile {
	switch {
	case !r.since(1, 12, 0), r.is(1, 12, 0) && r.stage == development && r.build < firstFrontendBuild:
		return Refused
	case r.is(1, 12, 0):
		return Direct
	case r.is(1, 12, 1) && r.stage == candidate:
		switch {
		case r.build == 0:
			return Direct
		case r.build <= 3:
			return WrapperWithoutSmallPool
		}
	case r.stage == development && (r.is(1, 12, 1) || r.build <= lastDirectBuild):
		return Direct
	}
	return Wrapper
}

func (r release) tls() TLS {
	switch {
	case !r.since(1, 12, 1), r.stage == development && r.build > 0 && r.build < firstTLSBuild:
		return TLSProxyAndInstances
	case r.stage == development && r.build == 0:
		return TLSUnknown
	}
	return TLSEverywhere
}

// removesDevices reports whether the preStop hook of a release removes devices or does not wait. The hook that waits came to builds and
// to the fourth candidate of 1.12.0.
func (r release) removesDevices() bool {
	switch {
	case !r.since(1, 12, 0):
		return true
	case r.stage == development:
		return r.build <= lastRemovingBuild && (r.build > 0 || r.is(1, 12, 0))
	}
	return r.is(1, 12, 0) && r.stage == candidate && r.build < 4
}

// Profiles returns all profiles, in the order of the documents.
func Profiles() []Profile { return []Profile{Direct, Wrapper, WrapperWithoutSmallPool, Refused} }

// ParseDeclared reads the operator's map from image to profile, as a flag gives it.
func ParseDeclared(raw map[string]string) (map[string]Profile, error) {
	out := map[string]Profile{}
	for image, profile := range raw {
		if !slices.Contains(Profiles(), Profile(profile)) {
			return nil, fmt.Errorf("image %s has profile %q, which is none of %v", image, profile, Profiles())
		}
		out[image] = Profile(profile)
	}
	return out, nil
}
