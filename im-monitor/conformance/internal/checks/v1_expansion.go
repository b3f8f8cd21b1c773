package checks

import (
	"time"

	"drover.dev/drover/im-monitor/conformance/internal/suite"
	"drover.dev/drover/im-monitor/internal/rpc/imrpc"
	"drover.dev/drover/im-monitor/internal/rpc/ptypes"
)

// v1Expansion are the checks of expansion.
func v1Expansion() []suite.Check {
	return []suite.Check{
		v1("expand", "an expansion has succeeded when VolumeGet reports the new size", onLimits, v1Expand),
		v1("expand-content", "an expansion keeps the content", onLimits, v1ExpandContent, suite.Content),
		found(v1("expand-silent", "an expansion that the engine refuses by its snapshot limits answers OK, and then neither expands nor "+
			"reports an error", onLimits,
			v1ExpandSilent), "R7"),
		v1("expand-same", "an expansion to the size that the volume has is OK and does nothing", onLimits, v1ExpandSame),
	}
}

func (k v1kit) expand(e process, size int64) error {
	_, err := k.Manager.Proxy.VolumeExpand(k.Context(), &imrpc.EngineVolumeExpandRequest{ProxyEngineRequest: k.ref(e),
		Expand: &ptypes.VolumeExpandRequest{Size: size}})
	return err
}

func v1Expand(k v1kit) {
	e, replicas := k.served(2, engineOptions{})
	k.OK(k.expand(e, 2*k.VolumeSize), "expanding")
	k.Eventually("VolumeGet reports the new size", func() (bool, string) {
		v := k.report(e)
		return v.GetSize() == 2*k.VolumeSize && !v.GetIsExpanding(), v.String()
	})
	for _, r := range replicas {
		k.inMode(e, r, "RW")
	}
}

func v1ExpandContent(k v1kit) {
	e, replicas := k.served(2, engineOptions{})
	k.write(e, 1, "before")
	k.OK(k.expand(e, 2*k.VolumeSize), "expanding")
	k.Eventually("VolumeGet reports the new size", func() (bool, string) { return k.size(e) == 2*k.VolumeSize, k.report(e).String() })
	k.reads(e, 1, "before")
	k.write(e, 2, "after")
	k.stop(e)
	for n, r := range replicas {
		k.stop(r)
		replicas[n] = k.replica(k.Manager, n+1, replicaOptions{size: 2 * k.VolumeSize})
	}
	e = k.engine(k.Manager, 1, engineOptions{frontend: k.FrontendV1, size: 2 * k.VolumeSize}, replicas...)
	k.reads(e, 1, "before")
	k.reads(e, 2, "after")
}

func v1ExpandSilent(k v1kit) {
	e, _ := k.served(1, engineOptions{maxCount: 1})
	k.taken(e, "first")
	k.OK(k.expand(e, 2*k.VolumeSize), "expanding at the maximal count")
	k.Eventually("the volume does not expand", func() (bool, string) {
		v := k.report(e)
		k.Sleep(100 * time.Millisecond)
		return !v.GetIsExpanding() && !k.report(e).GetIsExpanding(), v.String()
	})
	k.Never("the new size, or an error", func() (bool, string) {
		v := k.report(e)
		return v.GetSize() != k.VolumeSize || v.GetLastExpansionError() != "", v.String()
	})
}

func v1ExpandSame(k v1kit) {
	e, _ := k.served(1, engineOptions{})
	k.OK(k.expand(e, k.VolumeSize), "expanding to the same size")
	k.Never("another size", func() (bool, string) { return k.size(e) != k.VolumeSize, k.report(e).String() })
}
