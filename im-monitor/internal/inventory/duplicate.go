package inventory

// AlsoListedBy returns another instance manager than one whose newest list has an instance of the same name and UUID, as where one of their
// addresses leads to the other's server; "" when none has, or the UUID is not known.
func AlsoListedBy(s Store, instanceManager string, i Instance) string {
	if i.UUID == "" {
		return ""
	}
	for _, other := range s.Holders(i.Name) {
		if list, ok := s.Latest(other); ok && other != instanceManager && list.Instances.At(i.Name).UUID == i.UUID {
			return other
		}
	}
	return ""
}
