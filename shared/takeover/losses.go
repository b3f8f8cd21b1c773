package takeover

import (
	"fmt"
	"slices"
	"strings"

	"drover.dev/drover/shared/api/v1beta2"
	"drover.dev/drover/shared/setting"
)

const (
	driver = "driver.longhorn.io"
	plugin = "longhorn-csi-plugin"
	// backend is the Service to which the CSI plugin and the web interface send their requests.
	backend = "longhorn-backend"
	// mostNamed is the largest number of names in a sentence; it counts the rest.
	mostNamed = 10
)

// Loss is a function of longhorn-manager that ends with it, because no controller of Drover has it yet, or that then waits for a person.
type Loss struct {
	// Object names the affected object by kind and name, or its kind alone.
	Object string
	// What describes the loss, and the functions that remain.
	What string
	// Do advises a person on how to avoid or end the loss.
	Do string
}

// Losses lists the functions that the installation uses and loses, by class and by volume if possible. No loss blocks the take-over.
func Losses(f Found) []Loss {
	return slices.Concat(f.mounting(), f.classes(), f.shares(), f.filesystemDisks(), f.engineImages(), f.storageNetwork(), f.unreadSettings())
}

// mounting returns the loss of mounts: the CSI node plugin calls the Service longhorn-backend at each mount, and that Service leads to
// longhorn-manager until a person changes it.
func (f Found) mounting() (out []Loss) {
	for i := range f.DaemonSets {
		if d := &f.DaemonSets[i]; d.Name == plugin {
			attached := f.named(func(v *v1beta2.Volume) bool { return v.Status.State == v1beta2.VolumeStateAttached })
			out = append(out, Loss{"DaemonSet " + plugin,
				fmt.Sprintf("asks the Service %s at each mount: until that leads to api-gateway no pod that starts later mounts a Longhorn "+
					"volume, and the plugin ends at its next start. Mounts that exist go on: %s", backend, counted("attached volume", attached)),
				"once api-gateway is ready: " + f.kubectl("patch services "+backend+` --type merge -p '{"spec":{"selector":{"app":"api-gateway"}}}'`)})
		}
	}
	return out
}

// unhonored lists the parameters of a StorageClass that Drover does not obey, with the values that api-gateway accepts nevertheless.
var unhonored = map[string][]string{"replicaAutoBalance": {"", "ignored", "disabled"}, "cloneMode": {"", "full-copy"},
	"freezeFilesystemForSnapshot": {"", "ignored", "disabled"}, "dataLayout.type": {"", "replicated"}, "dataLayout.mode": {"", "raid1"}}

// classes returns the StorageClasses whose new claims get no volume, because Drover does not obey a parameter.
func (f Found) classes() (out []Loss) {
	for i := range f.Classes {
		c := &f.Classes[i]
		if c.Provisioner != driver {
			continue
		}
		var refused []string
		for name, accepted := range unhonored {
			if value := c.Parameters[name]; !slices.Contains(accepted, value) {
				refused = append(refused, name+"="+value)
			}
		}
		if len(refused) > 0 {
			out = append(out, Loss{"StorageClass " + c.Name, "no controller of Drover obeys these of its parameters, so that a new claim of this " +
				"class is refused by name: " + names(refused), "make a class without them for new claims; volumes that exist are not affected"})
		}
	}
	return out
}

// shares returns the RWX volumes, which share managers serve.
func (f Found) shares() (out []Loss) {
	states := map[string]string{}
	for i := range f.Shares {
		states[f.Shares[i].Name] = f.Shares[i].Status.State
	}
	for i := range f.Volumes {
		v := &f.Volumes[i]
		if !v1beta2.IsShared(v) {
			continue
		}
		what := "nobody makes its share (ReadWriteMany)"
		if state := states[v.Name]; state != "" {
			what += fmt.Sprintf("; its ShareManager is %s: a pod of it that runs goes on, and ends for good when it ends", state)
		}
		out = append(out, Loss{"Volume " + v.Name, what, "end its pods, or leave this installation to longhorn-manager"})
	}
	return out
}

// filesystemDisks are the v1 disks, which disk-controller sees only if its chart mounts their directories.
func (f Found) filesystemDisks() (out []Loss) {
	for i := range f.Nodes {
		n := &f.Nodes[i]
		var keys []string
		for key, d := range n.Spec.Disks {
			if d.DiskType != v1beta2.DiskTypeBlock {
				keys = append(keys, key+" ("+d.Path+")")
			}
		}
		if len(keys) > 0 {
			out = append(out, Loss{"Node " + n.Name, "its v1 disks are not ready unless disk-controller sees their directories: " + names(keys),
				"install disk-controller, and list these directories in its value hostPaths"})
		}
	}
	return out
}

// engineImages returns the images to which nobody upgrades the v1 engine of a volume while it is attached.
func (f Found) engineImages() (out []Loss) {
	var images []string
	for i := range f.EngineImages {
		images = append(images, f.EngineImages[i].Spec.Image)
	}
	if len(images) == 0 {
		return nil
	}
	v1 := f.named(func(v *v1beta2.Volume) bool { return v.Spec.DataEngine != v1beta2.DataEngineV2 })
	return []Loss{{"EngineImage", fmt.Sprintf("nobody upgrades the engine of an attached v1 volume (%s) to another image: %s",
		counted("v1 volume", v1), names(images)),
		"finish engine upgrades before; never delete a DaemonSet engine-image-ei-…"}}
}

// storageNetwork returns the loss of a second network: the pods that im-monitor creates do not join it.
func (f Found) storageNetwork() (out []Loss) {
	for i := range f.Settings {
		if s := &f.Settings[i]; s.Name == "storage-network" && s.Value != "" {
			out = append(out, Loss{"Setting storage-network", "no pod of an instance manager is created while it names " + s.Value + ", and v2 " +
				"instances that run on that network are not reached", "detach the volumes, empty the setting, and let longhorn-manager " +
				"replace the pods before"})
		}
	}
	return out
}

// unreadSettings are Settings of the data engines that no controller of Drover obeys: flags of im-monitor take their place.
func (f Found) unreadSettings() (out []Loss) {
	for i := range f.Settings {
		s := &f.Settings[i]
		if s.Value == "" || len(setting.Obeying(s.Name)) > 0 || !strings.HasPrefix(s.Name, "data-engine-") {
			continue
		}
		out = append(out, Loss{"Setting " + s.Name, "no controller of Drover obeys it (now " + s.Value + "): a flag of im-monitor or its " +
			"default takes its place in every instance manager that is created or recreated", "compare it with the flags: im-monitor --help"})
	}
	return out
}

// named returns the names of the volumes of which is reports true.
func (f Found) named(is func(*v1beta2.Volume) bool) (out []string) {
	for i := range f.Volumes {
		if is(&f.Volumes[i]) {
			out = append(out, f.Volumes[i].Name)
		}
	}
	return out
}

// counted returns how many there are, and the names of the first.
func counted(noun string, list []string) string {
	if len(list) == 0 {
		return "no " + noun
	}
	if len(list) > 1 {
		noun += "s"
	}
	return fmt.Sprintf("%d %s (%s)", len(list), noun, names(list))
}

// names lists the first names in order, and counts the others.
func names(list []string) string {
	list = slices.Sorted(slices.Values(list))
	if more := len(list) - mostNamed; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(list[:mostNamed], ", "), more)
	}
	return strings.Join(list, ", ")
}
