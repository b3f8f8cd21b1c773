package environment

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"drover.dev/drover/shared/api/v1beta2"
)

// The kernel modules that the data engines need.
var (
	modulesV1 = []string{"dm_crypt"}
	modulesV2 = []string{"vfio_pci", "uio_pci_generic", "nvme_tcp"}
)

// need is a program with the packages that have it, by kind of distribution.
type need struct {
	program  string
	packages map[string]string
}

var needed = []need{
	{"iscsiadm", map[string]string{"debian": "open-iscsi", "rhel": "iscsi-initiator-utils", "suse": "open-iscsi"}},
	{"mount.nfs", map[string]string{"debian": "nfs-common", "rhel": "nfs-utils", "suse": "nfs-client"}},
	{"cryptsetup", map[string]string{"debian": "cryptsetup", "rhel": "cryptsetup", "suse": "cryptsetup"}},
	{"dmsetup", map[string]string{"debian": "dmsetup", "rhel": "device-mapper", "suse": "device-mapper"}},
}

// families are the kinds of distributions by the words of os-release.
var families = map[string]string{"debian": "debian", "ubuntu": "debian", "rhel": "rhel", "fedora": "rhel", "centos": "rhel", "amzn": "rhel",
	"suse": "suse", "opensuse": "suse", "sles": "suse"}

// Types returns the conditions of a Node that Evaluate makes.
func Types() []string {
	return []string{v1beta2.NodeKernelModulesLoaded, v1beta2.NodeMountPropagation, v1beta2.NodeRequiredPackages}
}

// Evaluate returns the conditions of a node, without times; v2 reports whether the v2 data engine is on.
func Evaluate(f Facts, node string, v2 bool) []v1beta2.Condition {
	return []v1beta2.Condition{f.propagation(node), f.kernelModules(node, v2), f.packages(node)}
}

func (f Facts) propagation(node string) v1beta2.Condition {
	c := v1beta2.Condition{Type: v1beta2.NodeMountPropagation}
	var private []string
	for _, directory := range slices.Sorted(maps.Keys(f.Mounts)) {
		if !f.Mounts[directory] {
			private = append(private, directory)
		}
	}
	switch {
	case f.Mounts == nil:
		return notVisible(c, "It is not known whether mounts of node %s propagate: disk-controller sees none of its directories (value "+
			"hostPaths of its chart).", node)
	case len(private) > 0:
		c.Status, c.Reason = v1beta2.ConditionFalse, v1beta2.ReasonNoMountPropagationSupport
		c.Message = fmt.Sprintf("Pods do not see mounts that are made on node %s in %s, so disks and volumes that are mounted later are missing "+
			"there. Run mount --make-rshared / on the node, make that permanent, and restart its pods.", node, strings.Join(private, ", "))
	default:
		c.Status, c.Reason = v1beta2.ConditionTrue, v1beta2.ReasonMountsPropagate
		c.Message = fmt.Sprintf("Mounts of node %s are seen in pods.", node)
	}
	return c
}

func (f Facts) kernelModules(node string, v2 bool) v1beta2.Condition {
	c := v1beta2.Condition{Type: v1beta2.NodeKernelModulesLoaded}
	wanted := modulesV1
	if v2 {
		wanted = slices.Concat(modulesV1, modulesV2)
	}
	var missing []string
	for _, name := range wanted {
		if !f.Modules[name] {
			missing = append(missing, name)
		}
	}
	switch {
	case f.Modules == nil:
		return notVisible(c, "The kernel modules of node %s are not known: their list cannot be read.", node)
	case len(missing) > 0 && !f.BuiltInKnown:
		return notVisible(c, "The kernel of node %s has not loaded "+strings.Join(missing, ", ")+". It may have them built in: disk-controller "+
			"does not see the list of those in the node's /usr/lib/modules (value checkNode of its chart).", node)
	case len(missing) > 0:
		c.Status, c.Reason = v1beta2.ConditionFalse, v1beta2.ReasonKernelModulesNotLoaded
		c.Message = fmt.Sprintf("The kernel of node %s lacks %s. Run modprobe -a %s on the node, and list them in a file in "+
			"/etc/modules-load.d.", node, strings.Join(missing, ", "), strings.Join(missing, " "))
	default:
		c.Status, c.Reason = v1beta2.ConditionTrue, v1beta2.ReasonModulesLoaded
		c.Message = fmt.Sprintf("The kernel of node %s has %s.", node, strings.Join(wanted, ", "))
	}
	return c
}

func (f Facts) packages(node string) v1beta2.Condition {
	c := v1beta2.Condition{Type: v1beta2.NodeRequiredPackages}
	var missing []string
	for _, one := range needed {
		if f.Programs[one.program] {
			continue
		}
		text := one.program
		if name := one.packages[f.Family]; name != "" {
			text += " (package " + name + ")"
		}
		missing = append(missing, text)
	}
	switch {
	case f.Programs == nil:
		return notVisible(c, "The programs of node %s are not known: disk-controller does not see its /usr (value checkNode of its chart).",
			node)
	case len(missing) > 0:
		c.Status, c.Reason = v1beta2.ConditionFalse, v1beta2.ReasonPackagesNotInstalled
		c.Message = fmt.Sprintf("Node %s lacks programs in /usr/sbin and /usr/bin: %s. Install their packages on the node.", node,
			strings.Join(missing, ", "))
	default:
		c.Status, c.Reason = v1beta2.ConditionTrue, v1beta2.ReasonPackagesInstalled
		c.Message = fmt.Sprintf("Node %s has the programs that volumes need.", node)
	}
	return c
}

func notVisible(c v1beta2.Condition, format, node string) v1beta2.Condition {
	c.Status, c.Reason, c.Message = v1beta2.ConditionUnknown, v1beta2.ReasonNotVisible, fmt.Sprintf(format, node)
	return c
}
