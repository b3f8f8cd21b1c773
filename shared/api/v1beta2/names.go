package v1beta2

import (
	"crypto/sha256"
	"crypto/sha512"
	"encoding/hex"
	"regexp"
	"strings"
)

// Finalizer is on every kind that has an owner controller; only that controller removes it.
const Finalizer = "longhorn.io"

// DefaultNamespace is where a Longhorn installation keeps its objects.
const DefaultNamespace = "longhorn-system"

// CSIDriver is the CSI driver whose volume handles are names of Volumes.
const CSIDriver = "driver.longhorn.io"

// The forms of the names of instances.
var (
	replicaName = regexp.MustCompile(`^(.+)-r-[0-9a-z]+$`)
	engineName  = regexp.MustCompile(`^(.+)-e-[0-9a-z]+$`)
)

// VolumeOfReplicaName returns the volume of a replica by its name, `<volume>-r-<id>`; "" where the name has another form.
func VolumeOfReplicaName(name string) string { return firstGroup(replicaName, name) }

// VolumeOfEngineName returns the volume of an engine by its name, `<volume>-e-<id>`; "" where the name has another form.
func VolumeOfEngineName(name string) string { return firstGroup(engineName, name) }

func firstGroup(form *regexp.Regexp, name string) string {
	if m := form.FindStringSubmatch(name); m != nil {
		return m[1]
	}
	return ""
}

// OrphanName returns the name of the Orphan for one runtime instance, as `orphan-<64 hex>`. The same instance always
// has the same name; another UUID, instance manager or data engine has another one.
func OrphanName(instance, uuid, instanceManager, dataEngine string) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{instance, uuid, instanceManager, dataEngine}, "-")))
	return "orphan-" + hex.EncodeToString(sum[:])
}

// OrphanDataName returns the name of the Orphan for the data of one replica on a disk, as `orphan-<64 hex>`. The disk is named by its key
// in Node.spec.disks, its path and its UUID.
func OrphanDataName(node, diskName, diskPath, diskUUID, dataName string) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{node, diskName, diskPath, diskUUID, dataName}, "-")))
	return "orphan-" + hex.EncodeToString(sum[:])
}

// LegacyOrphanName returns the name that clusters before the v2 orphans used: without the instance's UUID.
func LegacyOrphanName(instance, instanceManager, dataEngine string) string {
	sum := sha256.Sum256([]byte(strings.Join([]string{instance, instanceManager, dataEngine}, "-")))
	return "orphan-" + hex.EncodeToString(sum[:])
}

// InstanceManagerName returns the name of the instance manager, and of its pod, of one node, image and data engine.
func InstanceManagerName(node, image, dataEngine string) string {
	sum := sha512.Sum512([]byte(node + image + dataEngine))
	return "instance-manager-" + hex.EncodeToString(sum[:])[:32]
}

// InstanceManagerImageLabel returns the label value for an instance manager's image.
func InstanceManagerImageLabel(image string) string {
	sum := sha512.Sum512([]byte(dashed(image)))
	return "imi-" + hex.EncodeToString(sum[:])[:8]
}

// EngineImageName returns the name of the EngineImage of an image, which is hashed as it is written.
func EngineImageName(image string) string {
	sum := sha512.Sum512([]byte(image))
	return "ei-" + hex.EncodeToString(sum[:])[:8]
}

// EngineBinaryDirectory returns the directory of an engine image's binary below engine-binaries.
func EngineBinaryDirectory(image string) string { return dashed(image) }

// dashed returns the name of an image as Longhorn writes it where colons and slashes have no place.
func dashed(image string) string { return strings.NewReplacer(":", "-", "/", "-").Replace(image) }

// VolumeLabelValue returns the value of LabelVolume on Volume, Engine, EngineFrontend and Replica: the volume's name,
// cut to 40 characters with a hash where it is longer.
func VolumeLabelValue(volume string) string {
	const limit = 40
	if len(volume) <= limit {
		return volume
	}
	sum := sha512.Sum512([]byte(volume))
	return volume[:limit-9] + "-" + hex.EncodeToString(sum[:])[:8]
}

// labelValue matches what may stand in a label as it is.
var labelValue = regexp.MustCompile(`^([A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?)?$`)

// LabelValue returns a name as a label value. Names over 63 characters, and those with characters that no label has, are
// cut and end in a hash, so that no name, not even one that a server generated, makes an object impossible to create; such
// a label finds objects, but does not name them.
func LabelValue(name string) string {
	const limit = 63
	if len(name) <= limit && labelValue.MatchString(name) {
		return name
	}
	sum := sha512.Sum512([]byte(name))
	start := strings.Map(func(r rune) rune {
		if labelValue.MatchString(string(r)) || strings.ContainsRune("-._", r) {
			return r
		}
		return '-'
	}, name)
	start = strings.Trim(start[:min(len(start), limit-9)], "-._")
	return strings.TrimPrefix(start+"-"+hex.EncodeToString(sum[:])[:8], "-")
}
