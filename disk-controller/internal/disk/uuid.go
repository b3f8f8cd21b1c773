package disk

// prefix is how many characters of a UUID are unique in a cluster: names of replicas begin with them.
const prefix = 4

// ChooseUUID returns the first of a series of random UUIDs whose beginning no disk of the cluster has. Once most beginnings are taken, any
// UUID will do that no disk has.
func (w World) ChooseUUID(random func() string) string {
	const attempts = 1000
	begins, whole := map[string]bool{}, map[string]bool{}
	note := func(uuid string) {
		if len(uuid) >= prefix {
			begins[uuid[:prefix]], whole[uuid] = true, true
		}
	}
	for uuid := range w.Elsewhere {
		note(uuid)
	}
	for _, s := range w.Status {
		note(s.DiskUUID)
	}
	for i := 0; ; i++ {
		uuid := random()
		if !begins[uuid[:prefix]] || i >= attempts && !whole[uuid] {
			return uuid
		}
	}
}
