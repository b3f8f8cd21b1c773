package orphancontroller_test

import (
	"slices"
	"sync"
)

// syncList is a list that several goroutines append to.
type syncList struct {
	mu   sync.Mutex
	list []string
}

func (l *syncList) add(s string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.list = append(l.list, s)
}

func (l *syncList) count(s string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.list) - len(slices.DeleteFunc(slices.Clone(l.list), func(x string) bool { return x == s }))
}
