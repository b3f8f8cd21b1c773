package placement

import (
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/shared/api/v1beta2"
)

func TestADiskIsFoundWithAllThatAReplicaHasToKnow(t *testing.T) {
	found, why := Find(asks(), []Node{node("a", disk("d"))})
	require.Equal(t, &Disk{Node: "a", Zone: "zone-of-a", UUID: "a-d", Path: "/disks/d"}, found)
	require.Equal(t, Refusal{}, why)
}

func TestABlockDiskWithoutAPathInItsSpecIsNamedByItsStatus(t *testing.T) {
	found, _ := Find(asks(func(r *Request) { r.DataEngine = v1beta2.DataEngineV2 }), []Node{
		node("a", disk("d", block, func(spec *v1beta2.DiskSpec, status *v1beta2.DiskStatus) { spec.Path, status.DiskPath = "", "/dev/x" })),
	})
	require.Equal(t, "/dev/x", found.Path)
}

func TestADiskWithoutATypeIsAFilesystem(t *testing.T) {
	found, _ := Find(asks(), []Node{node("a", disk("d", func(spec *v1beta2.DiskSpec, _ *v1beta2.DiskStatus) { spec.DiskType = "" }))})
	require.NotNil(t, found)
}

func TestACordonIsHonouredOnlyWithTheSetting(t *testing.T) {
	found, _ := Find(asks(func(r *Request) { r.HonourCordon = false }), []Node{node("a", disk("d"), cordoned)})
	require.Equal(t, "a", found.Node)
}

func TestTagsHaveToBeThereAllOfThem(t *testing.T) {
	selects := asks(func(r *Request) { r.NodeSelector, r.DiskSelector = []string{"x", "y"}, []string{"nvme"} })
	all := func(n *Node) { n.Spec.Tags = []string{"y", "z", "x"} }
	found, _ := Find(selects, []Node{node("a", disk("d", tagged("nvme"))), node("b", disk("d"), all),
		node("c", disk("d", tagged("hdd", "nvme")), all)})
	require.Equal(t, "c", found.Node)
}

// A replica of 10 GiB on one disk.
func TestSpaceIsBudgetedAndKept(t *testing.T) {
	for name, c := range map[string]struct {
		over, minimal                          int
		maximum, available, reserved, promised int64
		fits                                   bool
		lacks                                  string
	}{
		"exactly what is left":                           {100, 25, 100, 100, 0, 90, true, ""},
		"one GiB more than what is left":                 {100, 25, 100, 100, 0, 91, false, "1Gi"},
		"what is reserved is not budgeted":               {100, 25, 100, 100, 30, 60, true, ""},
		"one GiB more than what is not reserved":         {100, 25, 100, 100, 30, 61, false, "1Gi"},
		"twice the disk may be promised":                 {200, 25, 100, 100, 0, 190, true, ""},
		"no more than twice the disk":                    {200, 25, 100, 100, 0, 195, false, "5Gi"},
		"over-provisioning counts without the reserve":   {200, 25, 100, 100, 50, 91, false, "1Gi"},
		"half of the disk only may be promised":          {50, 25, 100, 100, 0, 40, true, ""},
		"more is reserved than there is":                 {100, 25, 100, 100, 200, 0, false, "110Gi"},
		"a quarter of the disk has to stay available":    {1000, 25, 100, 25, 0, 0, false, "1B"},
		"a bit more than a quarter is available":         {1000, 25, 100, 26, 0, 0, true, ""},
		"less than a quarter is available":               {1000, 25, 100, 20, 0, 0, false, "5.0Gi"},
		"nothing has to stay, but nothing is available":  {1000, 0, 100, 0, 0, 0, false, "1B"},
		"a disk of which nothing is known has no space":  {100, 25, 0, 0, 0, 0, false, "10Gi"},
		"all has to stay available: nothing fits":        {100, 100, 100, 100, 0, 0, false, "1B"},
		"promised beyond the budget since it was shrunk": {100, 0, 50, 50, 0, 80, false, "40Gi"},
	} {
		t.Run(name, func(t *testing.T) {
			found, why := Find(asks(func(r *Request) { r.OverProvisioning, r.MinimalAvailable = c.over, c.minimal }),
				[]Node{node("a", disk("d", sized(c.maximum, c.available, c.reserved)), promised("d", c.promised))})
			require.Equal(t, c.fits, found != nil, why.Message)
			if !c.fits {
				require.Contains(t, why.Message, "The best disk lacks "+c.lacks+".")
			}
		})
	}
}

// What is copied to a replica takes room that is available now, however much may be promised.
func TestARebuildNeedsRoomForTheDataThatItCopies(t *testing.T) {
	for engine, full := range map[string]Node{
		v1beta2.DataEngineV1: node("a", disk("d", sized(100, 40, 0))),
		v1beta2.DataEngineV2: node("a", disk("d", sized(100, 40, 0), block,
			func(_ *v1beta2.DiskSpec, s *v1beta2.DiskStatus) { s.DiskType = v1beta2.DiskTypeBlock })),
	} {
		t.Run(engine, func(t *testing.T) {
			copies := func(data int64) Request {
				return asks(func(r *Request) {
					r.DataEngine, r.Data, r.OverProvisioning, r.MinimalAvailable = engine, data*gib, 200, 25
				})
			}
			for data, fits := range map[int64]bool{0: true, 14: true, 15: false, 20: false} {
				found, why := Find(copies(data), []Node{full})
				require.Equal(t, fits, found != nil, "%d GiB: %s", data, why.Message)
			}
			_, why := Find(copies(20), []Node{full})
			require.Contains(t, why.Message, "The best disk lacks 5.0Gi.")
		})
	}
}

func TestTheMessageReportsHowMuchTheBestDiskLacks(t *testing.T) {
	_, why := Find(asks(), []Node{node("a", disk("d"), promised("d", 99)),
		node("b", disk("d"), promised("d", 93), disk("e"), promised("e", 97))})
	require.Contains(t, why.Message, "3 too little space (a/d, b/d, b/e). The best disk lacks 3Gi.")
}

func TestReplicasAreSpread(t *testing.T) {
	two := func(n *Node) { disk("d")(n); disk("e")(n) }
	for name, c := range map[string]struct {
		request Request
		nodes   []Node
		want    string
	}{
		"hard: not onto the same node": {asks(taken("a", "d")), []Node{node("a", two)}, ""},
		"hard: onto another node": {asks(taken("a", "d")), []Node{node("a", two), node("b", disk("d"))},
			"b-d"},
		"hard: not into the same zone": {asks(takenInZone("x", "z", "d")), []Node{node("a", disk("d"), zone("z"))},
			""},
		"hard: into another zone": {asks(takenInZone("x", "z", "d")),
			[]Node{node("a", disk("d"), zone("z")), node("b", disk("d"))}, "b-d"},
		"nodes without a zone share none": {asks(takenInZone("x", "", "d")), []Node{node("a", disk("d"), zone(""))},
			"a-d"},
		"soft node: another disk of the node where all is left": {asks(taken("a", "d"), soft(true, true, false)), []Node{node("a", two)},
			"a-e"},
		"soft node, hard disk: not onto the same disk": {asks(taken("a", "d"), soft(true, true, false)),
			[]Node{node("a", disk("d"))}, ""},
		"soft node and disk: the same disk where all is left": {asks(taken("a", "d"), soft(true, true, true)),
			[]Node{node("a", disk("d"))}, "a-d"},
		"soft disk: rather another disk": {asks(taken("a", "d"), soft(true, true, true)),
			[]Node{node("a", two, promised("e", 50))}, "a-e"},
		"soft node, hard zone: the zone of the node counts": {asks(taken("a", "d"), soft(true, false, true)), []Node{node("a", two)},
			""},
		"soft node: rather another node, however full": {asks(taken("a", "d"), soft(true, true, true)),
			[]Node{node("a", two), node("b", disk("d"), promised("d", 90))}, "b-d"},
		"soft zone: rather another zone, however full": {asks(takenInZone("x", "z", "d"), soft(false, true, true)),
			[]Node{node("a", disk("d"), zone("z")), node("b", disk("d"), promised("d", 90))}, "b-d"},
		"soft zone: the same one where all is left": {asks(takenInZone("x", "z", "d"), soft(false, true, true)),
			[]Node{node("a", disk("d"), zone("z"))}, "a-d"},
		"the place of a replica that leaves is free": {asks(leaving("a", "d")), []Node{node("a", two)}, "a-d"},
		"rather a node without a replica that leaves": {asks(leaving("a", "d")),
			[]Node{node("a", two), node("b", disk("d"), promised("d", 90))}, "b-d"},
		"a disk of another node with the same UUID is free": {asks(onDisk("a", "b-d")), []Node{node("b", disk("d"))}, "b-d"},
		"soft node: the node with fewest replicas": {asks(taken("a", "d"), taken("a", "e"), taken("b", "d"), soft(true, true, true)),
			[]Node{node("a", disk("f")), node("b", disk("f"), promised("f", 90))}, "b-f"},
	} {
		t.Run(name, func(t *testing.T) {
			found, why := Find(c.request, c.nodes)
			if c.want == "" {
				require.Nil(t, found)
				require.Equal(t, v1beta2.ReasonAntiAffinity, why.Reason)
				return
			}
			require.NotNil(t, found, why.Message)
			require.Equal(t, c.want, found.UUID)
		})
	}
}

func TestAmongEqualsTheDiskWithMostRoomIsTaken(t *testing.T) {
	found, _ := Find(asks(), []Node{
		node("a", disk("d"), promised("d", 20)), node("b", disk("d", sized(100, 100, 30))),
		node("c", disk("d"), promised("d", 10), disk("e", sized(80, 80, 0))),
	})
	require.Equal(t, "c-d", found.UUID)
}

func TestAmongDisksWithTheSameRoomTheNameDecides(t *testing.T) {
	found, _ := Find(asks(), []Node{node("b", disk("d")), node("a", disk("e"), disk("d"))})
	require.Equal(t, "a-d", found.UUID)
}

func TestThePreferredNode(t *testing.T) {
	prefers := func(name string) func(*Request) { return func(r *Request) { r.PreferNode = name } }
	full := with(node("b", disk("d")), promised("d", 95))
	for name, c := range map[string]struct {
		request Request
		nodes   []Node
		want    string
	}{
		"is taken though another one has more room": {asks(prefers("b")),
			[]Node{node("a", disk("d")), node("b", disk("d"), promised("d", 50))}, "b-d"},
		"is left where it has no room": {asks(prefers("b")), []Node{node("a", disk("d")), full}, "a-d"},
		"is left where it has a replica already": {asks(prefers("b"), taken("b", "x"), soft(true, true, true)),
			[]Node{node("a", disk("d")), node("b", disk("d"))}, "a-d"},
		"is taken though its zone is shared, if that is soft": {asks(prefers("b"), takenInZone("x", "z", "d"), soft(false, true, true)),
			[]Node{node("a", disk("d")), node("b", disk("d"), zone("z"))}, "b-d"},
		"may be unknown": {asks(prefers("x")), []Node{node("a", disk("d"))}, "a-d"},
	} {
		t.Run(name, func(t *testing.T) {
			found, why := Find(c.request, c.nodes)
			require.NotNil(t, found, why.Message)
			require.Equal(t, c.want, found.UUID)
		})
	}
}

func TestTheOnlyNodeIsTheOnlyOne(t *testing.T) {
	only := func(r *Request) { r.OnlyNode = "b" }
	found, _ := Find(asks(only), []Node{node("a", disk("d")), node("b", disk("d"), promised("d", 90))})
	require.Equal(t, "b-d", found.UUID)
	found, why := Find(asks(only), []Node{node("a", disk("d")), node("b", disk("d"), promised("d", 91))})
	require.Nil(t, found)
	require.Equal(t, v1beta2.ReasonInsufficientSpace, why.Reason)
}
