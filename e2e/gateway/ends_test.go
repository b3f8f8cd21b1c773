package gateway

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/coder/websocket"
	"github.com/stretchr/testify/require"

	"drover.dev/drover/e2e/world"
)

// door is one process of the gateway, and what its clients know of it.
type door struct {
	process *world.Process
	// acknowledged is the last value that this process has acknowledged.
	acknowledged atomic.Int64
	answers      atomic.Int64
	messages     atomic.Int64
}

// limitOf is the field that the clients of these tests change and read.
const limitOf = "snapshotMaxSize"

// firstLimit is the first value: more than twice the size of a volume.
const firstLimit = 1 << 40

// read reads the volume once. It returns an error if the answer is wrong; a broken connection is no answer.
func (d *door) read(ctx context.Context, client *http.Client, volume string, asked *atomic.Int64, list bool) error {
	path := "/v1/volumes"
	if !list {
		path += "/" + volume
	}
	least := d.acknowledged.Load()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, d.process.REST()+path, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return nil //nolint:nilerr // the process is killed
	}
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		return nil //nolint:nilerr // the process is killed
	}
	d.answers.Add(1)
	most := asked.Load()
	if response.StatusCode != http.StatusOK {
		return fmt.Errorf("%s: %s: %s", path, response.Status, body)
	}
	return isBetween(body, volume, list, least, most)
}

// isBetween returns an error unless an answer has the volume, with a value that was written and is not older than an acknowledged value.
func isBetween(body []byte, volume string, list bool, least, most int64) error {
	type resource struct {
		ID    string `json:"id"`
		Limit int64  `json:"snapshotMaxSize,string"`
	}
	var answer struct {
		resource
		Data []resource `json:"data"`
	}
	if err := json.Unmarshal(body, &answer); err != nil {
		return fmt.Errorf("no whole answer: %w", err)
	}
	if !list {
		answer.Data = []resource{answer.resource}
	}
	for _, v := range answer.Data {
		if v.ID != volume {
			continue
		}
		if v.Limit < least || v.Limit > most {
			return fmt.Errorf("%s is %d; %d was acknowledged, and %d asked for", limitOf, v.Limit, least, most)
		}
		return nil
	}
	return fmt.Errorf("volume %s is missing in %s", volume, body)
}

// follow keeps a stream open, and opens it again when it ends.
func (d *door) follow(ctx context.Context, volume string) error {
	for ctx.Err() == nil {
		stream, _, err := websocket.Dial(ctx, d.process.REST()+"/v1/ws/1s/volumes", nil)
		if err != nil {
			wait(ctx, 50*time.Millisecond)
			continue
		}
		stream.SetReadLimit(64 << 20)
		for {
			_, body, err := stream.Read(ctx)
			if err != nil {
				break
			}
			d.messages.Add(1)
			if !strings.Contains(string(body), `"id":"`+volume+`"`) {
				return fmt.Errorf("a stream lacks volume %s: %s", volume, body)
			}
		}
		_ = stream.CloseNow()
	}
	return nil
}

func wait(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// TestAKilledGatewayGivesNoWrongAnswer kills two processes of the gateway in turn, while clients change a volume, read it from both, and
// follow the list.
func TestAKilledGatewayGivesNoWrongAnswer(t *testing.T) {
	const volume, kills, clients = "killed", 6, 8
	p := newPlugin(t)
	p.create(volume, "v1", nil)
	second, err := here.StartController(p.ctx, world.APIGateway, "-second")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, here.Remove(second)) })
	require.NoError(t, here.WaitReady(p.ctx, second, patience))
	doors := []*door{{process: here.Process(world.APIGateway)}, {process: second}}

	ctx, cancel := context.WithCancel(p.ctx)
	defer cancel()
	var group sync.WaitGroup
	var asked atomic.Int64
	wrong := make(chan error, 100)
	report := func(err error) {
		if err != nil && ctx.Err() == nil {
			select {
			case wrong <- err:
			default:
			}
		}
	}
	group.Go(func() { report(write(ctx, doors, volume, &asked)) })
	for _, d := range doors {
		group.Go(func() { report(d.follow(ctx, volume)) })
		for n := range clients {
			group.Go(func() {
				client := &http.Client{Transport: &http.Transport{}}
				for ctx.Err() == nil {
					report(d.read(ctx, client, volume, &asked, n%4 == 0))
					wait(ctx, 5*time.Millisecond)
				}
			})
		}
	}
	for n := range kills {
		d := doors[n%2]
		answers, messages, value := d.answers.Load(), d.messages.Load(), asked.Load()
		require.NoError(t, d.process.Crash())
		require.NoError(t, here.WaitReady(ctx, d.process, patience))
		require.NoError(t, here.Wait(ctx, "answers and streams of the process that was killed", patience,
			func(context.Context) (string, error) {
				if len(wrong) > 0 {
					return "", <-wrong
				}
				if d.answers.Load() < answers+100 || d.messages.Load() < messages+1 || asked.Load() < value+10 {
					return fmt.Sprintf("%d answers, %d messages", d.answers.Load(), d.messages.Load()), nil
				}
				return "", nil
			}))
	}
	cancel()
	group.Wait()
	close(wrong)
	for err := range wrong {
		t.Error(err)
	}
	t.Logf("%d changes, %d and %d answers, %d and %d messages", asked.Load()-firstLimit, doors[0].answers.Load(), doors[1].answers.Load(),
		doors[0].messages.Load(), doors[1].messages.Load())
	p.remove(volume)
}

// write asks one process after the other for the next value, until the context ends.
func write(ctx context.Context, doors []*door, volume string, asked *atomic.Int64) error {
	for n := int64(firstLimit); ctx.Err() == nil; n++ {
		asked.Store(n)
		for turn := n; ctx.Err() == nil; turn++ {
			d := doors[turn%2]
			request, err := http.NewRequestWithContext(ctx, http.MethodPost,
				d.process.REST()+"/v1/volumes/"+volume+"?action=updateSnapshotMaxSize",
				strings.NewReader(fmt.Sprintf(`{"%s": "%d"}`, limitOf, n)))
			if err != nil {
				return err
			}
			response, err := http.DefaultClient.Do(request)
			if err != nil {
				wait(ctx, 10*time.Millisecond)
				continue // the process is killed: the other one is asked
			}
			body, err := io.ReadAll(response.Body)
			_ = response.Body.Close()
			if err != nil {
				continue
			}
			if response.StatusCode != http.StatusOK {
				return fmt.Errorf("changing volume %s: %s: %s", volume, response.Status, body)
			}
			d.acknowledged.Store(n)
			break
		}
	}
	return nil
}

// TestAnUpdateLosesNoRequest ends a process as Kubernetes does, while clients ask it. The process reports that it is not ready, and answers
// each request meanwhile. Its answers ask the clients to go elsewhere, which they do after some more requests, as Kubernetes' proxies do.
func TestAnUpdateLosesNoRequest(t *testing.T) {
	p := newPlugin(t)
	process, err := here.StartController(p.ctx, world.APIGateway, "-updated")
	require.NoError(t, err)
	require.NoError(t, here.WaitReady(p.ctx, process, patience))
	var group sync.WaitGroup
	const clients, more = 10, 3
	var unready atomic.Int64
	for range clients {
		group.Go(func() {
			client := &http.Client{Transport: &http.Transport{}}
			for asked := 0; asked < more; {
				request, err := http.NewRequestWithContext(p.ctx, http.MethodGet, process.REST()+"/v1/volumes", nil)
				if !assertNoError(t, err) {
					return
				}
				response, err := client.Do(request)
				if !assertNoError(t, err) {
					return
				}
				_, err = io.Copy(io.Discard, response.Body)
				_ = response.Body.Close()
				if !assertNoError(t, err) {
					return
				}
				if response.StatusCode != http.StatusOK {
					t.Errorf("it answered %s", response.Status)
				}
				if response.Close {
					asked++
					unready.Add(1)
				}
			}
		})
	}
	ended := make(chan error, 1)
	go func() { ended <- here.Remove(process) }()
	require.NoError(t, here.Wait(p.ctx, "the process to be not ready", patience, func(ctx context.Context) (string, error) {
		code, reason, err := here.Readiness(ctx, process)
		if err != nil {
			return "", err
		}
		if code == http.StatusOK || !strings.Contains(reason, "stopping") {
			return fmt.Sprint(code, reason), nil
		}
		return "", nil
	}))
	group.Wait()
	require.NoError(t, <-ended)
	require.EqualValues(t, clients*more, unready.Load(), "each client was asked to go elsewhere, and was answered until it went")
}

func assertNoError(t *testing.T, err error) bool {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
	return err == nil
}
