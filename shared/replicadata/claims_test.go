package replicadata_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/replicadata"
)

var directory = replicadata.Directory{Node: "node-1", DiskUUID: "uuid-1", DiskPath: "/data", Name: "vol-1-0a1b2c3d"}

func replica(change func(*v1beta2.Replica)) replicadata.Claims {
	r := v1beta2.Replica{}
	r.Name, r.UID = "vol-1-r-a", "uid-1"
	r.Spec.NodeID, r.Spec.DiskID, r.Spec.DiskPath, r.Spec.DataDirectoryName = "node-1", "uuid-1", "/data", "vol-1-0a1b2c3d"
	change(&r)
	return replicadata.Claims{Replicas: []v1beta2.Replica{r}}
}

func orphan(change func(*v1beta2.Orphan)) replicadata.Claims {
	o := v1beta2.Orphan{}
	o.Name, o.UID = "orphan-1", "uid-2"
	o.Spec = v1beta2.OrphanSpec{NodeID: "node-1", OrphanType: "replica",
		Parameters: map[string]string{"DataName": "vol-1-0a1b2c3d", "DiskUUID": "uuid-1", "DiskPath": "/data"}}
	change(&o)
	return replicadata.Claims{Orphans: []v1beta2.Orphan{o}}
}

func manager(change func(*v1beta2.InstanceManager)) replicadata.Claims {
	im := v1beta2.InstanceManager{}
	im.Name, im.Spec.NodeID, im.Spec.DataEngine, im.Status.CurrentState = "im-1", "node-1", "v1", "running"
	im.Status.InstanceReplicas = map[string]v1beta2.InstanceProcess{"vol-1-r-x": {}}
	change(&im)
	return replicadata.Claims{Managers: []v1beta2.InstanceManager{im}}
}

func TestWhoHasADirectory(t *testing.T) {
	type r = v1beta2.Replica
	type o = v1beta2.Orphan
	type im = v1beta2.InstanceManager
	for name, c := range map[string]struct {
		claims replicadata.Claims
		has    string
	}{
		"nobody":                          {replicadata.Claims{}, ""},
		"a replica of the same disk":      {replica(func(*r) {}), "Replica vol-1-r-a"},
		"the path has a slash at its end": {replica(func(r *r) { r.Spec.DiskPath = "/data/" }), "Replica vol-1-r-a"},
		"the disk has another path":       {replica(func(r *r) { r.Spec.DiskPath = "/mnt" }), "Replica vol-1-r-a"},
		"the disk is on another node":     {replica(func(r *r) { r.Spec.NodeID = "node-2" }), "Replica vol-1-r-a"},
		"the place has another disk":      {replica(func(r *r) { r.Spec.DiskID = "uuid-2" }), "Replica vol-1-r-a"},
		"its place is not known": {replica(func(r *r) { r.Spec.NodeID, r.Spec.DiskID, r.Spec.DiskPath = "", "", "" }),
			"Replica vol-1-r-a"},
		"another disk at another path":      {replica(func(r *r) { r.Spec.DiskID, r.Spec.DiskPath = "uuid-2", "/mnt" }), ""},
		"another disk on another node":      {replica(func(r *r) { r.Spec.DiskID, r.Spec.NodeID = "uuid-2", "node-2" }), ""},
		"another directory":                 {replica(func(r *r) { r.Spec.DataDirectoryName = "vol-1-99999999" }), ""},
		"v2 has no directory":               {replica(func(r *r) { r.Spec.DataEngine = "v2" }), ""},
		"the object itself":                 {replica(func(r *r) { r.UID = "own" }), ""},
		"one that is being deleted":         {replica(func(r *r) { r.Status.CurrentState = "stopped" }), "Replica vol-1-r-a"},
		"an orphan of the data":             {orphan(func(*o) {}), "Orphan orphan-1"},
		"an orphan of another directory":    {orphan(func(o *o) { o.Spec.Parameters["DataName"] = "x-1" }), ""},
		"an orphan of an instance":          {orphan(func(o *o) { o.Spec.OrphanType = "replica-instance" }), ""},
		"an orphan of v2 data":              {orphan(func(o *o) { o.Spec.DataEngine = "v2" }), ""},
		"an instance manager that lists it": {manager(func(*im) {}), "im-1 lists instance vol-1-r-x"},
		"its engine": {manager(func(i *im) { i.Status.InstanceEngines, i.Status.InstanceReplicas = i.Status.InstanceReplicas, nil }),
			"im-1 lists"},
		"an instance manager of another node": {manager(func(i *im) { i.Spec.NodeID = "node-2" }), ""},
		"a v2 instance manager":               {manager(func(i *im) { i.Spec.DataEngine = "v2" }), ""},
		"an instance manager that lists others": {manager(func(i *im) {
			i.Status.InstanceReplicas = map[string]v1beta2.InstanceProcess{"o": {}}
		}), ""},
		"an instance manager that may run it": {manager(func(i *im) { i.Status.InstanceReplicas, i.Status.CurrentState = nil, "unknown" }),
			"unknown"},
		"an instance manager that runs nothing": {manager(func(i *im) { i.Status.InstanceReplicas, i.Status.CurrentState = nil, "stopped" }),
			""},
		"an instance manager without a data engine": {manager(func(i *im) { i.Spec.DataEngine = "" }), "im-1 lists"},
	} {
		t.Run(name, func(t *testing.T) {
			got := c.claims.By(directory, "own", "vol-1-r-x")
			if c.has == "" {
				require.Empty(t, got)
				return
			}
			require.Contains(t, got, c.has)
		})
	}
}

func TestTheNameOfADirectory(t *testing.T) {
	for _, name := range []string{"vol-1-0a1b2c3d", "a-b", strings.Repeat("v", 246) + "-0a1b2c3d"} {
		require.NoError(t, replicadata.CheckName(name))
	}
	long := strings.Repeat("v", 247) + "-0a1b2c3d"
	for _, name := range []string{"", ".", "..", "...-a", ".removing-a", "a/b-c", "/a-b", "a-b/", "a\x00-b", "ab",
		long} {
		require.Error(t, replicadata.CheckName(name), "%q", name)
	}
}
