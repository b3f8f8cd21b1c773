package gateway

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"github.com/coder/websocket"
	"golang.org/x/time/rate"
	"k8s.io/utils/clock"

	"drover.dev/drover/api-gateway/internal/wire"
)

// The times of a stream. A client that takes no message for streamTimeout is cut off, so that slow clients hold no memory.
const (
	pingPeriod    = 15 * time.Second
	maxPeriod     = 15 * time.Second
	streamTimeout = 10 * time.Second
	maxMessage    = 64 << 10
)

// The bytes that all streams together send in a second, and at once. A list of 5,000 volumes has 40 MB, and each change sends it to each
// page: without a limit twenty pages would take the processor from the requests of the CSI plugin, which mounts wait for.
const (
	streamBytesPerSecond = 100_000_000
	streamBurst          = 4 << 20
)

// stream sends a collection whenever it changes, at most once in the period of the path.
func (s *server) stream(w http.ResponseWriter, hr *http.Request) {
	name := hr.PathValue("name")
	r := request{Request: hr, ctx: hr.Context(), base: wire.BaseOf(hr, "")}
	if _, known := s.lists.all[name]; !known {
		s.answer(w, r, nil, notFound("stream", name))
		return
	}
	if !s.limits.openStream() {
		s.answer(w, r, nil, wire.WithStatus(http.StatusServiceUnavailable, fmt.Errorf("%d streams are open, which is the limit (--streams)",
			s.options.Streams)))
		return
	}
	defer s.limits.closeStream()
	s.metrics.streams.Inc()
	defer s.metrics.streams.Dec()
	// The origin was checked before: see checkOrigin.
	connection, err := websocket.Accept(w, hr, &websocket.AcceptOptions{InsecureSkipVerify: true})
	if err != nil {
		return // it has answered
	}
	defer func() { _ = connection.CloseNow() }()
	connection.SetReadLimit(maxMessage)
	ctx, cancel := context.WithCancel(hr.Context())
	defer cancel()
	defer context.AfterFunc(s.ending, cancel)()
	go drain(ctx, connection, cancel)
	if err := s.send(ctx, connection, name, periodOf(hr.PathValue("period")), r.base); err != nil && ctx.Err() == nil {
		s.log.V(1).Info("A stream ended", "stream", name, "error", err.Error())
	}
	_ = connection.Close(websocket.StatusGoingAway, "")
}

// periodOf returns the least time between two messages; 0 if the text is no duration.
func periodOf(text string) time.Duration {
	period, err := time.ParseDuration(text)
	if err != nil {
		return 0
	}
	return min(max(period, 0), maxPeriod)
}

// drain reads and drops messages of the client, and ends the stream when the client does.
func drain(ctx context.Context, connection *websocket.Conn, end func()) {
	defer end()
	for {
		_, message, err := connection.Reader(ctx)
		if err != nil {
			return
		}
		if _, err := io.Copy(io.Discard, message); err != nil {
			return
		}
	}
}

// send sends the collection now and after each change of it, until the context ends or the client takes no message.
func (s *server) send(ctx context.Context, connection *websocket.Conn, name string, period time.Duration, base string) error {
	ping := s.clock.NewTimer(pingPeriod)
	defer ping.Stop()
	topics := s.lists.all[name].topics
	var last text
	var sent uint64
	for {
		version, changed := s.changes.version(topics...)
		if len(topics) == 0 {
			changed = nil // no change announces itself: the list is built again after each ping
		}
		if last == nil || changed == nil || version != sent {
			list, err := s.message(ctx, name)
			if err != nil {
				return err
			}
			if !list.equals(last) {
				if err := s.write(ctx, connection, list, base); err != nil {
					return err
				}
			}
			last, sent = list, version
		}
		if err := s.pause(ctx, connection, changed, ping, period); err != nil {
			return err
		}
	}
}

func (s *server) message(ctx context.Context, name string) (text, error) {
	ctx, cancel := context.WithTimeout(ctx, handleTimeout)
	defer cancel()
	return s.lists.get(ctx, name)
}

// pause returns at the next change, not before the period is over, or when it has pinged the client.
func (s *server) pause(ctx context.Context, connection *websocket.Conn, changed <-chan struct{}, ping clock.Timer,
	period time.Duration) error {
	if period > 0 {
		timer := s.clock.NewTimer(period)
		defer timer.Stop()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-timer.C():
		}
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-changed:
		return nil
	case <-ping.C():
		ping.Reset(pingPeriod)
		limited, cancel := context.WithTimeout(ctx, streamTimeout)
		defer cancel()
		return connection.Ping(limited)
	}
}

// write sends a list as one message.
func (s *server) write(ctx context.Context, connection *websocket.Conn, list text, base string) error {
	ctx, cutOff := context.WithCancel(ctx)
	defer cutOff()
	message, err := connection.Writer(ctx, websocket.MessageText)
	if err != nil {
		return err
	}
	to := messageWriter{ctx: ctx, cutOff: cutOff, rate: s.limits.streamRate, to: message}
	if err := list.writeFor(base, to); err != nil {
		return err
	}
	defer to.limit().Stop()
	return message.Close()
}

// messageWriter writes the chunks of one message, each as soon as the rate of all streams allows it and within streamTimeout.
type messageWriter struct {
	ctx    context.Context
	cutOff context.CancelFunc
	rate   *rate.Limiter
	to     io.Writer
}

// Write implements io.Writer.
func (w messageWriter) Write(p []byte) (int, error) {
	written := 0
	for part := range slices.Chunk(p, chunk) {
		if err := w.rate.WaitN(w.ctx, len(part)); err != nil {
			return written, err
		}
		timer := w.limit()
		n, err := w.to.Write(part)
		timer.Stop()
		written += n
		if err != nil {
			return written, err
		}
	}
	return written, nil
}

// limit cuts the client off after streamTimeout, unless the timer is stopped.
func (w messageWriter) limit() *time.Timer { return time.AfterFunc(streamTimeout, w.cutOff) }
