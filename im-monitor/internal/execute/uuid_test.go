package execute

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"drover.dev/drover/im-monitor/internal/imclient"
	"drover.dev/drover/im-monitor/internal/inventory"
	"drover.dev/drover/shared/api/v1beta2"
)

// connection answers one list.
type connection struct {
	imclient.Client
	list map[string]imclient.Instance
	err  error
}

func (c *connection) List(context.Context, imclient.Cause, imclient.Known) (map[string]imclient.Instance, error) {
	return c.list, c.err
}

// lister is an inventory with one connection.
type lister struct {
	connection connection
	connected  bool
	fresh      int
}

func (l *lister) Client(string) (imclient.Client, inventory.Epoch, bool) {
	return &l.connection, inventory.Epoch{}, l.connected
}

func (l *lister) Fresh(context.Context, string) (*inventory.Snapshot, error) {
	l.fresh++
	return nil, nil
}

func TestAUUIDThatTheServerDoesNotCompareIsReadAgain(t *testing.T) {
	seen := imclient.Instance{Name: "vol-r-1", UUID: "1", UUIDSource: imclient.UUIDFromHeadLvol}
	for _, c := range []struct {
		name   string
		change func(*lister, *imclient.Instance)
		want   string
	}{
		{"the same", func(*lister, *imclient.Instance) {}, ""},
		{"one that the server compares", func(l *lister, i *imclient.Instance) { l.connected, i.UUIDSource = false, "" }, ""},
		{"another one", func(l *lister, _ *imclient.Instance) { l.connection.list["vol-r-1"] = imclient.Instance{UUID: "2"} }, Disagreed},
		{"none", func(l *lister, _ *imclient.Instance) { delete(l.connection.list, "vol-r-1") }, Disagreed},
		{"no answer", func(l *lister, _ *imclient.Instance) { l.connection.err = imclient.ErrUnreachable }, v1beta2.ReasonUnreachable},
		{"no connection", func(l *lister, _ *imclient.Instance) { l.connected = false }, v1beta2.ReasonUnreachable},
	} {
		t.Run(c.name, func(t *testing.T) {
			l, i := &lister{connection: connection{list: map[string]imclient.Instance{"vol-r-1": seen}}, connected: true}, seen
			c.change(l, &i)
			stop := (&Guard{Store: l}).SameUUID(t.Context(), "im-1", i, "1")
			require.Equal(t, c.want, stop.Result)
			require.Equal(t, c.want == Disagreed, l.fresh == 1, "the inventory learns it at once")
		})
	}
}

func TestADeletionWithoutAUUIDFitsNoInstanceOfAServerThatDoesNotCompareIt(t *testing.T) {
	l := &lister{connection: connection{list: map[string]imclient.Instance{}}, connected: true}
	seen := imclient.Instance{Name: "vol-r-1", UUIDSource: imclient.UUIDFromHeadLvol}
	require.Equal(t, Stop{Result: Disagreed}, (&Guard{Store: l}).SameUUID(t.Context(), "im-1", seen, ""))
	require.Equal(t, 1, l.fresh)
}
