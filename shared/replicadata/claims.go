package replicadata

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/types"

	"drover.dev/drover/shared/api/v1beta2"
)

// Directory is the directory of a v1 replica on a disk.
type Directory struct {
	// Node has the disk, DiskUUID and DiskPath identify the disk.
	Node, DiskUUID, DiskPath string
	// Name is the directory below replicas/.
	Name string
}

// Of returns the directory that a Replica names.
func Of(r *v1beta2.Replica) Directory {
	return Directory{Node: r.Spec.NodeID, DiskUUID: r.Spec.DiskID, DiskPath: r.Spec.DiskPath, Name: r.Spec.DataDirectoryName}
}

// OfOrphan returns the directory that an Orphan of replica data names.
func OfOrphan(o *v1beta2.Orphan) Directory {
	p := o.Spec.Parameters
	return Directory{Node: o.Spec.NodeID, DiskUUID: p["DiskUUID"], DiskPath: p["DiskPath"], Name: p["DataName"]}
}

// longestName is the number of bytes of a file's name.
const longestName = 255

// CheckName returns why a name cannot be the directory of a replica, or nil: it is one part of a path, and has a hyphen.
func CheckName(name string) error {
	switch {
	case name == "":
		return errors.New("it is empty")
	case strings.ContainsAny(name, "/\x00"):
		return errors.New("it is more than one part of a path")
	case strings.HasPrefix(name, "."):
		return errors.New("it begins with a dot")
	case !strings.Contains(name, "-"):
		return errors.New("it has no hyphen, which the name of each replica has")
	case len(name) > longestName:
		return fmt.Errorf("it has %d bytes, and a file system takes %d", len(name), longestName)
	}
	return nil
}

// Claims are the objects that may have a directory. Each list was read whole and uncached.
type Claims struct {
	Replicas []v1beta2.Replica
	Orphans  []v1beta2.Orphan
	Managers []v1beta2.InstanceManager
}

// By returns who has a directory beside the object with a UID, as a sentence; "" if nobody has. The instances are the names under which
// an instance manager of the node would list a process over the directory.
func (c Claims) By(d Directory, except types.UID, instances ...string) string {
	for i := range c.Replicas {
		r := &c.Replicas[i]
		if r.UID != except && r.Spec.DataEngine != v1beta2.DataEngineV2 && d.maybe(Of(r)) {
			return fmt.Sprintf("Replica %s names it, too.", r.Name)
		}
	}
	for i := range c.Orphans {
		o := &c.Orphans[i]
		if o.UID != except && o.Spec.OrphanType == v1beta2.OrphanTypeReplicaData && o.Spec.DataEngine != v1beta2.DataEngineV2 &&
			d.maybe(OfOrphan(o)) {
			return fmt.Sprintf("Orphan %s names it, too.", o.Name)
		}
	}
	return c.listedBy(d, instances)
}

// listedBy returns which instance manager of the node may run one of the instances; "" if none does.
func (c Claims) listedBy(d Directory, instances []string) string {
	for i := range c.Managers {
		im := &c.Managers[i]
		if im.Spec.NodeID != d.Node || im.Spec.DataEngine == v1beta2.DataEngineV2 {
			continue
		}
		if im.Status.CurrentState == v1beta2.InstanceManagerStateUnknown {
			return fmt.Sprintf("It is unknown what instance manager %s runs.", im.Name)
		}
		for _, list := range []map[string]v1beta2.InstanceProcess{im.Status.InstanceReplicas, im.Status.InstanceEngines} {
			for name := range list {
				if slices.Contains(instances, name) {
					return fmt.Sprintf("Instance manager %s lists instance %s.", im.Name, name)
				}
			}
		}
	}
	return ""
}

// maybe reports whether another object may mean the same directory: it names it, and does not positively name another disk. A part that it
// leaves out is unknown.
func (d Directory) maybe(other Directory) bool {
	differ := func(a, b string) bool { return a != "" && b != "" && a != b }
	path := func(p string) string { return strings.TrimSuffix(p, "/") }
	elsewhere := differ(d.Node, other.Node) || differ(path(d.DiskPath), path(other.DiskPath))
	return d.Name != "" && d.Name == other.Name && !(elsewhere && differ(d.DiskUUID, other.DiskUUID))
}
