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
	c := v1beta2.Condition{Type: v1beta2.NodeMountPropagation, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonMountsPropagate,
		Message: fmt.Sprintf("Mounts of node %s are seen in pods.", node)}
	var private []string
	for _, directory := range slices.Sorted(maps.Keys(f.Mounts)) {
		if !f.Mounts[directory] {
			private = append(private, directory)
		}
	}
	switch {
	case f.Mounts == nil:
		return notVisible(c, fmt.Sprintf("It is not known whether mounts of node %s propagate: disk-controller sees none of its directories "+
			"(value hostPaths of its chart).", node))
	case len(private) > 0:
		return lacking(c, v1beta2.ReasonNoMountPropagationSupport, fmt.Sprintf("Pods do not see mounts that are made on node %s in %s, so "+
			"disks and volumes that are mounted later are missing there. Run mount --make-rshared / on the node, make that permanent, and "+
			"restart its pods.", node, strings.Join(private, ", ")))
	}
	return c
}

func (f Facts) kernelModules(node string, v2 bool) v1beta2.Condition {
	wanted := modulesV1
	if v2 {
		wanted = slices.Concat(modulesV1, modulesV2)
	}
	c := v1beta2.Condition{Type: v1beta2.NodeKernelModulesLoaded, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonModulesLoaded,
		Message: fmt.Sprintf("The kernel of node %s has %s.", node, strings.Join(wanted, ", "))}
	missing := slices.DeleteFunc(slices.Clone(wanted), func(name string) bool { return f.Modules[name] })
	switch {
	case f.Modules == nil:
		return notVisible(c, fmt.Sprintf("The kernel modules of node %s are not known: their list cannot be read.", node))
	case len(missing) > 0 && !f.BuiltInKnown:
		return notVisible(c, fmt.Sprintf("The kernel of node %s has not loaded %s. It may have them built in: disk-controller does not see "+
			"the list of those in the node's /usr/lib/modules (value checkNode of its chart).", node, strings.Join(missing, ", ")))
	case len(missing) > 0:
		return lacking(c, v1beta2.ReasonKernelModulesNotLoaded, fmt.Sprintf("The kernel of node %s lacks %s. Run modprobe -a %s on the "+
			"node, and list them in a file in /etc/modules-load.d.", node, strings.Join(missing, ", "), strings.Join(missing, " ")))
	}
	return c
}

func (f Facts) packages(node string) v1beta2.Condition {
	c := v1beta2.Condition{Type: v1beta2.NodeRequiredPackages, Status: v1beta2.ConditionTrue, Reason: v1beta2.ReasonPackagesInstalled,
		Message: fmt.Sprintf("Node %s has the programs that volumes need.", node)}
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
		return notVisible(c, fmt.Sprintf("The programs of node %s are not known: disk-controller does not see its /usr (value checkNode of "+
			"its chart).", node))
	case len(missing) > 0:
		return lacking(c, v1beta2.ReasonPackagesNotInstalled, fmt.Sprintf("Node %s lacks programs in /usr/sbin and /usr/bin: %s. Install "+
			"their packages on the node.", node, strings.Join(missing, ", ")))
	}
	return c
}

// notVisible returns a condition as Unknown.
func notVisible(c v1beta2.Condition, message string) v1beta2.Condition {
	c.Status, c.Reason, c.Message = v1beta2.ConditionUnknown, v1beta2.ReasonNotVisible, message
	return c
}

// lacking returns a condition as False.
func lacking(c v1beta2.Condition, reason, message string) v1beta2.Condition {
	c.Status, c.Reason, c.Message = v1beta2.ConditionFalse, reason, message
	return c
}
