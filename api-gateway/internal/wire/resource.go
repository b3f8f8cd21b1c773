package wire

// Meta is the part that every resource has. Links and Actions are objects, never null.
type Meta struct {
	ID      string            `json:"id"`
	Type    string            `json:"type"`
	Links   map[string]string `json:"links"`
	Actions map[string]string `json:"actions"`
}

// NewMeta returns the envelope of a resource: its own link, and one for each action.
func NewMeta(base, resourceType, id string, actions ...string) Meta {
	self := SelfURL(base, resourceType, id)
	m := Meta{ID: id, Type: resourceType, Links: map[string]string{"self": self}, Actions: map[string]string{}}
	for _, action := range actions {
		m.Actions[action] = self + "?action=" + action
	}
	return m
}

// Nested is the envelope of a nested resource: it has no type, and neither links nor actions.
type Nested struct {
	Links   *struct{} `json:"links"`
	Actions *struct{} `json:"actions"`
}

// Collection is the answer to a list.
type Collection struct {
	Type         string            `json:"type"`
	ResourceType string            `json:"resourceType"`
	Links        map[string]string `json:"links"`
	Actions      map[string]string `json:"actions"`
	Data         []any             `json:"data"`
}

// NewCollection returns a list of resources of one type that was read at an address. Its data is never null.
func NewCollection[T any](address, resourceType string, items []T) Collection {
	c := Collection{Type: "collection", ResourceType: resourceType, Links: map[string]string{"self": address},
		Actions: map[string]string{}, Data: make([]any, 0, len(items))}
	for _, item := range items {
		c.Data = append(c.Data, item)
	}
	return c
}

// Empty is the answer of an action that returns nothing.
type Empty struct {
	Meta
}

// NewEmpty returns the answer of an action that returns nothing.
func NewEmpty() Empty {
	return Empty{Meta{Type: "empty", Links: map[string]string{}, Actions: map[string]string{}}}
}
