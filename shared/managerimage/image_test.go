package managerimage

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

const repository = "registry.example.com:5000/longhornio/longhorn-instance-manager"

func TestTheProfileFollowsTheTag(t *testing.T) {
	for reference, want := range map[string]Profile{
		":v0.9.0": Refused, ":v1.9.2": Refused, ":1.9.2": Refused, ":v1.9.99-rc1": Refused,
		":v1.10.0": Refused, ":v1.10.2": Refused, ":v1.11.0": Refused, ":v1.11.2": Refused, ":v1.11.3": Refused,
		":v1.11.3-hotfix-1": Refused, ":v1.10.0-dev-20250601": Refused,

		":v1.12.0": Direct, ":1.12.0": Direct, ":v1.12.0-rc1": Direct, ":v1.12.0-hotfix-1": Direct, ":v1.12.0-1.3": Direct,
		":v1.12.0-dev-20260405": Refused, ":v1.12.0-dev": Refused, ":v1.12.0-dev-20260419": Direct,
		":v1.12.0@sha256:00ff": Direct,

		":v1.12.1-rc1": WrapperWithoutSmallPool, ":v1.12.1-rc2": WrapperWithoutSmallPool, ":v1.12.1-rc3": WrapperWithoutSmallPool,
		":v1.12.1-rc4": Wrapper, ":v1.12.1-rc10": Wrapper, ":v1.12.1-rc": Direct, ":v1.12.1-dev-20260531": Direct,
		":v1.12.1-dev-20260726": Direct,
		":v1.12.1":              Wrapper, ":1.12.1": Wrapper, ":v1.12.1-2.7": Wrapper, ":v1.12.1-hotfix-2": Wrapper,
		":v1.12.1@sha256:00ff": Wrapper,
		":v1.12.2-rc1":         Wrapper, ":v1.12.9": Wrapper, ":v1.12.1-x-head": Direct,

		":v1.13.0-dev-20260503": Direct, ":v1.13.0-dev-20260614": Direct, ":v1.13.0-dev-20260628": Direct,
		":v1.13.0-dev-20260712": Direct, ":v1.13.0-dev": Direct, ":v1.13.0-dev-2026": Direct, ":v1.13.0-development": Wrapper,
		":v1.13.0-dev-20260713": Wrapper, ":v1.13.0-dev-20270101": Wrapper, ":v1.13.0-rc1": Wrapper, ":v1.13.0": Wrapper,
		":v1.20.3": Wrapper, ":v2.0.0": Wrapper,

		"": Direct, ":master-head": Direct, ":v1.12.x-head": Direct, ":latest": Direct, ":v1.12": Direct, ":v1.12.1.4": Direct,
		":v1.12.1-head": Direct, ":mine-v1.12.1": Direct, ":v1.12.1+build": Direct, "@sha256:00ff": Direct, ":V1.12.1": Direct,
		":v99999999999999999999.1.1": Direct,
	} {
		require.Equal(t, want, Describe(repository+reference, nil).Profile, reference)
	}
}

func TestAPortOfTheRegistryIsNoTag(t *testing.T) {
	for reference, want := range map[string]Profile{
		"registry:1.12.1/im":                 Direct,
		"registry:5000/v1.12.1/im":           Direct,
		"registry:5000/im:v1.12.1":           Wrapper,
		"im:v1.12.1":                         Wrapper,
		"im":                                 Direct,
		"registry:5000/im@sha256:1.12.1":     Direct,
		"registry:5000/im:v1.11.0@sha256:00": Refused,
	} {
		require.Equal(t, want, Describe(reference, nil).Profile, reference)
	}
}

func TestAnUnknownImageIsStartedByTheScriptThatEveryImageHas(t *testing.T) {
	got := Describe("im@sha256:00ff", nil)
	require.Equal(t, Image{Reference: "im@sha256:00ff", Profile: Direct, TLS: TLSUnknown}, got)
}

func TestTheDeclarationOfAnOperatorComesFirst(t *testing.T) {
	declared := map[string]Profile{"im@sha256:00ff": Wrapper, "im:v1.12.1": Direct, "old:v1.11.0": Direct, "bad:v1.12.1": Refused}
	require.Equal(t, Image{Reference: "im@sha256:00ff", Profile: Wrapper, TLS: TLSEverywhere}, Describe("im@sha256:00ff", declared))
	require.Equal(t, Direct, Describe("im:v1.12.1", declared).Profile)
	require.Equal(t, TLSEverywhere, Describe("im:v1.12.1", declared).TLS, "the tag still reports the release")
	require.Equal(t, Wrapper, Describe("other/im:v1.12.1", declared).Profile, "the whole reference counts")
	private := Describe("old:v1.11.0", declared)
	require.Equal(t, Direct, private.Profile)
	require.Empty(t, private.Refusal)
	require.True(t, private.RemovesDevices, "a profile does not change the preStop hook of an image")
	require.Contains(t, Describe("bad:v1.12.1", declared).Refusal, "declared as refused")
}

func TestARefusalNamesTheImageAndTheWayOut(t *testing.T) {
	require.Equal(t, "Image im:v1.11.3 has no engine frontends: v2 volumes need an image of Longhorn 1.12.0 or newer.",
		Describe("im:v1.11.3", nil).Refusal)
	require.Empty(t, Describe("im:v1.12.0", nil).Refusal)
}

func TestPortsWithTLSFollowTheRelease(t *testing.T) {
	for tag, want := range map[string]TLS{
		"v1.10.0": TLSProxyAndInstances, "v1.11.3": TLSProxyAndInstances, "v1.12.0": TLSProxyAndInstances,
		"v1.12.0-hotfix-1": TLSProxyAndInstances,
		"v1.12.1":          TLSEverywhere, "v1.12.1-2.1": TLSEverywhere, "v1.12.2": TLSEverywhere, "v1.13.0": TLSEverywhere,
		"v1.13.0-rc1": TLSEverywhere, "v1.13.0-dev-20270101": TLSEverywhere,
		"v1.12.1-rc1": TLSEverywhere, "v1.12.1-dev-20260531": TLSProxyAndInstances, "v1.12.1-dev-20260614": TLSEverywhere,
		"v1.13.0-dev-20260503": TLSProxyAndInstances, "v1.13.0-dev-20260614": TLSEverywhere, "v1.13.0-dev": TLSUnknown,
		"master-head": TLSUnknown,
	} {
		require.Equal(t, want, Describe(repository+":"+tag, nil).TLS, tag)
	}
}

func TestImagesWhosePodTakesTheDevicesOfItsNodeWithIt(t *testing.T) {
	for tag, want := range map[string]bool{
		"v1.10.0": true, "v1.11.2": true, "v1.11.3": true, "v1.13.0-dev-20260503": true, "v1.13.0-dev-20260517": true,
		"v1.12.0-dev-20260517": true, "v1.12.0-rc1": true, "v1.12.0-rc2": true, "v1.12.0-dev": true,
		"v1.12.0-rc3": true, "v1.12.0-rc4": false, "v1.12.0-dev-20260531": false,
		"v1.12.0": false, "v1.12.1": false, "v1.13.0-dev-20260531": false, "v1.13.0-dev": false, "v1.13.0": false, "master-head": false,
	} {
		require.Equal(t, want, Describe(repository+":"+tag, nil).RemovesDevices, tag)
	}
}

func TestReleasesAreOrdered(t *testing.T) {
	order := []string{"v1.9.9", "v1.10.0", "v1.11.3", "v1.12.0", "v1.12.1-dev-20260601", "v1.12.1-rc1", "v1.12.1-rc3", "v1.12.1-rc10",
		"v1.12.1", "v1.12.2", "v1.13.0-dev-20260503", "v1.13.0-dev-20260712", "v1.13.0-rc1", "v1.13.0", "v2.0.0"}
	for i, older := range order {
		for j, newer := range order {
			require.Equal(t, i < j, Describe("a:"+older, nil).OlderThan(Describe("b:"+newer, nil)), "%s, %s", older, newer)
		}
		require.False(t, Describe("a:"+older, nil).OlderThan(Describe("b:own", nil)))
		require.False(t, Describe("a:own", nil).OlderThan(Describe("b:"+older, nil)))
	}
	require.False(t, Describe("a:v1.12.1", nil).OlderThan(Describe("a:v1.12.1-2.1", nil)), "revisions of one release have no order")
}

func TestEveryReferenceHasAProfile(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		reference := rapid.OneOf(rapid.String(), rapid.StringMatching(
			`[a-z.:0-9/]{0,20}(:v?[0-9]{1,3}\.[0-9]{1,3}\.[0-9]{1,3}(-[a-z0-9.-]{0,12})?)?`)).Draw(t, "reference")
		got := Describe(reference, nil)
		require.Equal(t, got, Describe(reference, nil))
		require.Contains(t, Profiles(), got.Profile)
		require.Equal(t, got.Profile == Refused, got.Refusal != "")
		require.False(t, got.OlderThan(got))
	})
}
