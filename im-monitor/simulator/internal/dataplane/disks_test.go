package dataplane

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Disk is a disk that a test put into a node and had loaded.
type Disk struct{ Name, UUID string }

// EnsureDisk puts a device with an lvstore into a node and has its running v2 servers load it.
func (p *Plane) EnsureDisk(nodeName, name, path string, total int64) Disk {
	if _, there := p.nodeOf(nodeName).devices[path]; !there {
		if _, err := p.AddDevice(Device{Node: nodeName, Path: path, Total: total, Lvstore: &Lvstore{Name: name}}); err != nil {
			panic(err)
		}
	}
	uuid := p.nodeOf(nodeName).devices[path].uuid()
	for _, s := range p.nodeOf(nodeName).servers {
		if _, err := s.DiskCreate(DiskRequest{Name: name, Path: path, UUID: uuid, Driver: DriverAIO}); err != nil && s.engine == V2 {
			panic(err)
		}
	}
	return Disk{Name: name, UUID: uuid}
}

const fast = 3 * time.Second // the cycle that a server has by default

func (f *fixture) device(t *testing.T, d Device) Device {
	t.Helper()
	d.Node = "node-1"
	made, err := f.plane.AddDevice(d)
	require.NoError(t, err)
	return made
}

func (f *fixture) digest(path string) string {
	for _, d := range f.plane.Devices("node-1") {
		if d.Path == path {
			return d.Digest
		}
	}
	return ""
}

func TestWhatDiskCreateMakesOfADevice(t *testing.T) {
	foreign := Lvstore{Name: "theirs", UUID: "foreign", Replicas: map[string]uint64{"r-theirs": 1 << 20}}
	for name, c := range map[string]struct {
		device        Device
		request       DiskRequest
		state, called string
		adopted       bool // the lvstore is there afterwards under the UUID foreign
		same          bool // no byte was written
	}{
		"nothing on it, no UUID: a new lvstore": {Device{}, DiskRequest{Driver: DriverAIO}, DiskReady, "fast", false, false},
		"nothing on it, a UUID given": {Device{}, DiskRequest{UUID: "foreign", Driver: DriverAIO}, DiskError, "",
			false, true},
		"another lvstore, a UUID given": {Device{Lvstore: &foreign}, DiskRequest{UUID: "mine", Driver: DriverAIO},
			DiskError, "", false, true},
		"an lvstore, no UUID: adopted and renamed": {Device{Lvstore: &foreign}, DiskRequest{Driver: DriverAIO}, DiskReady, "fast",
			true, false},
		"the lvstore that was asked for": {Device{Lvstore: &foreign}, DiskRequest{UUID: "foreign", Driver: DriverAIO},
			DiskReady, "theirs", true, true},
		"a filesystem on a block device": {Device{Filesystem: "ext4"}, DiskRequest{Driver: DriverAIO}, DiskError, "",
			false, true},
		"a partition table on a block device": {Device{Filesystem: "gpt"}, DiskRequest{Driver: DriverAIO}, DiskError, "",
			false, true},
		"a filesystem on a file is not checked": {Device{Kind: KindFile, Filesystem: "ext4"}, DiskRequest{Driver: DriverAIO},
			DiskReady, "fast", false, false},
		"a filesystem on an nvme device is not checked": {Device{Path: "0000:00:1e.0", Kind: KindNVMe, Filesystem: "ext4"},
			DiskRequest{Driver: DriverAuto}, DiskReady, "fastn1", false, false},
		"a virtio-blk device": {Device{Path: "0000:00:1e.0", Kind: KindVirtioBlk},
			DiskRequest{Driver: DriverAuto}, DiskReady, "fast", false, false},
		"a virtio-scsi device": {Device{Path: "0000:00:1e.0", Kind: KindVirtioSCSI},
			DiskRequest{Driver: DriverAuto}, DiskReady, "fastt0", false, false},
		"a PCI address with a driver that does not fit": {Device{Path: "0000:00:1e.0", Kind: KindVirtioBlk},
			DiskRequest{Driver: DriverNVMe}, DiskError, "", false, true},
		"a path with a driver of PCI devices": {Device{}, DiskRequest{Driver: DriverNVMe}, DiskError, "", false, true},
		"a device that has not appeared": {Device{Absent: true}, DiskRequest{UUID: "foreign", Driver: DriverAIO},
			DiskError, "", false, true},
	} {
		t.Run(name, func(t *testing.T) {
			f := newFixture(Behaviour{DiskCreateTime: time.Second})
			if c.device.Path == "" {
				c.device.Path = "/dev/sdb"
			}
			before := f.device(t, c.device).Digest
			s := f.start(V2)
			c.request.Name, c.request.Path = "fast", c.device.Path
			answer, err := s.DiskCreate(c.request)
			require.NoError(t, err)
			require.Equal(t, DiskInfo{State: DiskCreating}, answer, "the answer reports nothing else")
			f.step(time.Second)
			reported, err := s.DiskGet(DiskRequest{Name: "fast"})
			require.NoError(t, err)
			require.Equal(t, c.state, reported.State)
			require.Equal(t, c.called, reported.Name)
			require.Equal(t, c.same, before == f.digest(c.device.Path))
			if c.state == DiskError {
				require.Equal(t, DiskInfo{State: DiskError}, reported, "an error has no UUID and no sizes")
			}
			f.step(2 * fast)
			if c.adopted {
				require.Equal(t, "foreign", reported.UUID)
				require.Equal(t, map[string]string{"r-theirs": Stopped}, listed(t, s))
			} else {
				require.Empty(t, listed(t, s))
			}
		})
	}
}

func TestAServerForgetsItsDisksWhenItEnds(t *testing.T) {
	f := newFixture(Behaviour{})
	s := f.start(V2)
	f.putReplica(t, s, "r", Running)
	s = f.start(V2)
	f.step(time.Minute)
	require.Empty(t, listed(t, s), "without DiskCreate the lvols are not listed, with OK, for ever")
	_, err := s.DiskGet(DiskRequest{Name: "disk-1", Driver: DriverAIO})
	require.Equal(t, "Internal", CodeOf(err))
	require.ErrorContains(t, err, "cannot find disk disk-1")
	_, err = s.Create(v2Replica("r"))
	require.Equal(t, "Unknown", CodeOf(err))
	require.ErrorContains(t, err, "failed to check lvstore disk-1() existence for replica r creation")
	_, err = s.Delete(Deletion{Name: "r", Type: TypeReplica, DataEngine: V2, Cleanup: true})
	require.NoError(t, err, "OK, and nothing is destroyed")
	require.Len(t, f.plane.LvolsOf("node-1"), 1)
}

func TestADiskIsReadyBeforeItsReplicasAreListed(t *testing.T) {
	f := newFixture(Behaviour{})
	f.putReplica(t, f.start(V2), "r", Running)
	s := f.start(V2)
	w := s.Watch()
	disk := f.plane.EnsureDisk("node-1", "disk-1", "/dev/disk-1", 0)
	reported, err := s.DiskGet(DiskRequest{Name: "disk-1"})
	require.NoError(t, err)
	require.Equal(t, disk.UUID, reported.UUID)
	require.Empty(t, listed(t, s))
	f.step(fast)
	require.Empty(t, listed(t, s), "the pass has begun")
	f.step(fast / 2)
	require.Equal(t, map[string]string{"r": Stopped}, listed(t, s))
	require.Zero(t, w.Take(), "no one is reported")
}

func TestAPassIsThrownAwayWhenAReplicaIsCreatedOrDeletedMeanwhile(t *testing.T) {
	f := newFixture(Behaviour{})
	f.putReplica(t, f.start(V2), "r", Running)
	s := f.start(V2)
	disk := f.plane.EnsureDisk("node-1", "disk-1", "/dev/disk-1", 0)
	f.step(fast)
	spec := v2Replica("other")
	spec.DiskUUID = disk.UUID
	_, err := s.Create(spec)
	require.NoError(t, err)
	f.step(fast / 2)
	require.NotContains(t, listed(t, s), "r", "the pass that was under way is lost")
	f.step(fast)
	require.Contains(t, listed(t, s), "r")
}

func TestALoadedReplicaThatIsNotListedYetIsReusedByItsCreation(t *testing.T) {
	f := newFixture(Behaviour{})
	made := f.putReplica(t, f.start(V2), "r", Running)
	s := f.start(V2)
	disk := f.plane.EnsureDisk("node-1", "disk-1", "/dev/disk-1", 0)
	spec := v2Replica("r")
	for _, wrong := range []Spec{{DiskName: "disk-1", DiskUUID: "other"}, {DiskName: "other", DiskUUID: disk.UUID}} {
		spec.DiskName, spec.DiskUUID, spec.Name = wrong.DiskName, wrong.DiskUUID, "wrong-"+wrong.DiskName
		failed, err := s.Create(spec)
		require.NoError(t, err)
		require.Equal(t, Failed, failed.State, "both name and UUID of the disk are compared")
	}
	spec.Name, spec.DiskName, spec.DiskUUID = "r", "disk-1", disk.UUID
	again, err := s.Create(spec)
	require.NoError(t, err)
	require.Equal(t, made.UUID, again.UUID)
}

func TestDisksAreCreatedOneAfterTheOtherAndAKnownNameIsNotTriedAgain(t *testing.T) {
	f := newFixture(Behaviour{DiskCreateTime: 10 * time.Second})
	f.device(t, Device{Path: "/dev/a", Filesystem: "ext4"})
	f.device(t, Device{Path: "/dev/b"})
	s := f.start(V2)
	for _, name := range []string{"a", "b"} {
		_, err := s.DiskCreate(DiskRequest{Name: name, Path: "/dev/" + name, Driver: DriverAuto})
		require.NoError(t, err)
	}
	require.NotNil(t, s.DiskBusy("a", false), "asking about the one in work waits for its end")
	require.Nil(t, s.DiskBusy("b", false))
	reported, err := s.DiskGet(DiskRequest{Name: "b"})
	require.NoError(t, err)
	require.Equal(t, DiskCreating, reported.State)
	require.Nil(t, s.Busy())
	f.step(fast)
	busy := s.Busy()
	require.NotNil(t, busy, "from the monitor's next tick on, every call waits")
	f.step(7 * time.Second)
	<-busy
	reported, err = s.DiskGet(DiskRequest{Name: "a"})
	require.NoError(t, err)
	require.Equal(t, DiskInfo{State: DiskError}, reported)
	f.device(t, Device{Path: "/dev/a"})
	again, err := s.DiskCreate(DiskRequest{Name: "a", Path: "/dev/a", Driver: DriverAIO})
	require.NoError(t, err)
	require.Equal(t, DiskInfo{State: DiskError}, again, "no new try")
	f.step(time.Minute)
	require.NoError(t, s.DiskDelete(DiskRequest{Name: "a", Path: "/dev/a", Driver: DriverAIO}))
	_, err = s.DiskCreate(DiskRequest{Name: "a", Path: "/dev/a", Driver: DriverAIO})
	require.NoError(t, err)
	f.step(time.Minute)
	reported, err = s.DiskGet(DiskRequest{Name: "a"})
	require.NoError(t, err)
	require.Equal(t, DiskReady, reported.State)
}

func TestASecondCreationOfADiskInWorkHoldsUpTheWholeServer(t *testing.T) {
	f := newFixture(Behaviour{DiskCreateTime: time.Second})
	f.device(t, Device{Path: "/dev/a"})
	s := f.start(V2)
	_, err := s.DiskCreate(DiskRequest{Name: "a", Path: "/dev/a", Driver: DriverAIO})
	require.NoError(t, err)
	require.NotNil(t, s.DiskBusy("a", true))
	busy := s.Busy()
	require.NotNil(t, busy)
	f.step(time.Second)
	<-busy
	require.Nil(t, s.Busy())
}

func TestDeletingADiskKeepsItsDataAndForgetsItsReplicas(t *testing.T) {
	f := newFixture(Behaviour{})
	s := f.start(V2)
	f.putReplica(t, s, "r", Running)
	before := f.digest("/dev/disk-1")
	require.Equal(t, "Internal", CodeOf(s.DiskDelete(DiskRequest{Name: "disk-1", Driver: DriverAuto})))
	require.NoError(t, s.DiskDelete(DiskRequest{Name: "disk-1", UUID: "another", Driver: DriverAIO}), "another UUID is logged only")
	require.Empty(t, listed(t, s), "running replicas vanish without a question")
	require.Equal(t, before, f.digest("/dev/disk-1"))
	require.NoError(t, s.DiskDelete(DiskRequest{Name: "nobody"}))
	_, err := s.DiskGet(DiskRequest{Name: "disk-1", Driver: DriverAuto})
	require.ErrorContains(t, err, "unsupported disk driver auto")
}

func TestAnNVMeDeviceIsTakenFromItsKernelDriverUntilItsDiskIsDeleted(t *testing.T) {
	f := newFixture(Behaviour{})
	const address = "0000:00:1e.0"
	f.device(t, Device{Path: address, Kind: KindNVMe})
	s := f.start(V2)
	create := func(driver, uuid string) string {
		_, err := s.DiskCreate(DiskRequest{Name: "fast", Path: address, Driver: driver, UUID: uuid})
		require.NoError(t, err)
		reported, err := s.DiskGet(DiskRequest{Name: "fast"})
		require.NoError(t, err)
		return reported.State
	}
	require.Equal(t, DiskReady, create(DriverAuto, ""))
	reported, err := s.DiskGet(DiskRequest{Name: "fast", Driver: DriverNVMe})
	require.NoError(t, err)
	require.Equal(t, DiskInfo{ID: address, UUID: reported.UUID, Name: "fastn1", Path: address, Driver: DriverNVMe, State: DiskReady,
		Total: DefaultDeviceBytes,
		Free:  DefaultDeviceBytes}, reported)
	s = f.start(V2)
	require.Equal(t, DiskError, create(DriverAuto, reported.UUID), "vfio-pci does not report what the device is")
	require.Equal(t, "Internal", CodeOf(s.DiskDelete(DiskRequest{Name: "fast"})), "not even the driver was found")
	require.NoError(t, s.DiskDelete(DiskRequest{Name: "fast", Driver: DriverNVMe}))
	require.Equal(t, DiskReady, create(DriverNVMe, reported.UUID))
	require.NoError(t, s.DiskDelete(DiskRequest{Name: "fast", Driver: DriverNVMe}))
	require.Equal(t, DiskReady, create(DriverAuto, reported.UUID))
}

func TestADeviceThatVanishesLeavesADiskThatIsNotUnknown(t *testing.T) {
	f := newFixture(Behaviour{})
	s := f.start(V2)
	f.putReplica(t, s, "r", Running)
	require.NoError(t, f.plane.SetDevicePresent("node-1", "/dev/disk-1", false))
	_, err := s.DiskGet(DiskRequest{Name: "disk-1"})
	require.Equal(t, "Internal", CodeOf(err))
	require.ErrorContains(t, err, `no disk bdev found with name "disk-1"`)
	require.Equal(t, map[string]string{"r": Failed}, listed(t, s))
}

func TestAServerThatEndsDuringDiskCreateMayOrMayNotHaveWritten(t *testing.T) {
	for after, formatted := range map[time.Duration]bool{4 * time.Second: false, 6 * time.Second: true} {
		f := newFixture(Behaviour{DiskCreateTime: 10 * time.Second})
		before := f.device(t, Device{Path: "/dev/a"}).Digest
		s := f.start(V2)
		_, err := s.DiskCreate(DiskRequest{Name: "a", Path: "/dev/a", Driver: DriverAIO})
		require.NoError(t, err)
		f.step(after)
		s.Stop()
		f.step(time.Minute)
		require.Equal(t, formatted, before != f.digest("/dev/a"), after)
	}
}

func TestSwappedDevicesKeepTheirContent(t *testing.T) {
	f := newFixture(Behaviour{})
	f.device(t, Device{Path: "/dev/a", Lvstore: &Lvstore{Name: "a", UUID: "ua"}})
	f.device(t, Device{Path: "/dev/b", Lvstore: &Lvstore{Name: "b", UUID: "ub"}})
	a, b := f.digest("/dev/a"), f.digest("/dev/b")
	require.NoError(t, f.plane.SwapDevices("node-1", "/dev/a", "node-1", "/dev/b"))
	require.Equal(t, []string{b, a}, []string{f.digest("/dev/a"), f.digest("/dev/b")})
}

func TestDeletingAReplicaOfADiskDestroysByTheNameAlone(t *testing.T) {
	f := newFixture(Behaviour{})
	s := f.start(V2)
	f.putReplica(t, s, "r", Running)
	require.NoError(t, s.DiskReplicaDelete(DiskRequest{Name: "another", UUID: "another"}, "r"))
	require.Empty(t, f.plane.LvolsOf("node-1"))
	require.Contains(t, listed(t, s), "r", "until the next pass")
	f.step(2 * fast)
	require.Empty(t, listed(t, s))
}
