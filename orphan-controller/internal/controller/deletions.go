package controller

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"drover.dev/drover/shared/api/v1beta2"
)

// deletions remembers when this process first saw each orphan being deleted, by its name: deletion timestamps are of the API server's
// clock, and may be older than this process and im-monitor. Losing them only makes a wait longer. One worker uses it.
type deletions map[string]deletion

type deletion struct {
	uid types.UID
	at  time.Time
}

// seen is when the orphan was first seen being deleted; zero while it is not.
func (d deletions) seen(o *v1beta2.Orphan, now time.Time) time.Time {
	if o.DeletionTimestamp == nil {
		return time.Time{}
	}
	if d[o.Name].uid != o.UID {
		d[o.Name] = deletion{o.UID, now}
	}
	return d[o.Name].at
}

// forget is for an orphan that is gone.
func (d deletions) forget(name string) { delete(d, name) }
