// Package volumesize keeps apart the two sizes of a volume. Net is what a user gets: the sizes of Volume, Engine and Replica objects,
// Engine.status.currentSize. Backend is what instances hold and what is sent to instance managers: start arguments, VolumeGet,
// VolumeExpand, ReplicaAdd. The two differ by the room for a LUKS header, and only where the volume is encrypted. They are types of their
// own, so that the compiler refuses to mix them: Room is the only way from one to the other. The rules are those of Longhorn's instance
// starts.
package volumesize

import "drover.dev/drover/shared/api/v1beta2"

// Net is a size in bytes as the user of a volume sees it.
type Net int64

// Backend is a size in bytes as replicas, engines and frontends have it.
type Backend int64

// Room is how many bytes a backend is larger than what the user gets: 0 or LUKSHeader.
type Room int64

// LUKSHeader is the room of an encrypted volume.
const LUKSHeader Room = v1beta2.LUKSHeaderBytes

// firstWithRoom is the CLI API version of the first v1 engine image whose volumes have room for the LUKS header.
const firstWithRoom = 12

// RoomV1 is that of a v1 volume whose engine image has this CLI API version. Assumption: the hosts have cryptsetup 2.1.0 or newer; no
// object reports its version. With an older one the replica is 16 MiB larger than needed and loses nothing.
func RoomV1(encrypted bool, cliAPIVersion int) Room {
	if encrypted && cliAPIVersion >= firstWithRoom {
		return LUKSHeader
	}
	return 0
}

// RoomV2 is that of a v2 volume. labelled reports that the Volume has the label by which its room was decided at its creation.
func RoomV2(encrypted, labelled bool) Room {
	if encrypted && labelled {
		return LUKSHeader
	}
	return 0
}

// Backend is the backend size of a net size; an unknown one (0) stays unknown.
func (r Room) Backend(n Net) Backend {
	if n <= 0 {
		return 0
	}
	return Backend(n) + Backend(r)
}

// Net is the net size of a backend. One that is not larger than the room was made without it, and is net itself.
func (r Room) Net(b Backend) Net {
	if b <= Backend(r) {
		return Net(b)
	}
	return Net(b) - Net(r)
}
