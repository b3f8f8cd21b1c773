package machine

// PutEngine puts the engine binary of an image into a directory of a node's host.
func (m *Machine) PutEngine(node, directory, _ string) error {
	m.options.Plane.PutBinary(node, directory)
	return nil
}

// RemoveEngine removes it again.
func (m *Machine) RemoveEngine(node, directory string) error {
	m.options.Plane.RemoveBinary(node, directory)
	return nil
}

// EngineVersion returns what the binary of an image prints for `version --client-only`.
func (m *Machine) EngineVersion(image string) (string, error) {
	return m.options.Plane.VersionOf(image), nil
}
