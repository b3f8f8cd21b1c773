package imclient

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"google.golang.org/grpc/codes"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/status"
)

// alertPatience bounds the wait for the alert of a server that closed the connection: it came before the close.
const alertPatience = time.Second

// alertOp is what crypto/tls calls an alert of the other side.
const alertOp = "remote error"

// refusal keeps why the server refused our certificate. With TLS 1.3 a client learns that only after its own handshake: the alert is to be
// read, while writing finds a closed connection, whose error (broken pipe) hides the cause.
type refusal struct {
	mu  sync.Mutex
	err error
}

// why is nil while the server has not refused us.
func (r *refusal) why() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// refused notes the server's alert, and what is wrong with our certificate as far as we can see it.
func (r *refusal) refused(alert error, ours *x509.Certificate) error {
	err := fmt.Errorf("the instance manager refused the certificate in tls.crt: %w", alert)
	if ours != nil {
		if wrong := ours.VerifyHostname(ServerName); wrong != nil {
			err = fmt.Errorf("%w (%w)", err, wrong)
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.err == nil {
		r.err = err
	}
	return r.err
}

// failed types the error of a call: where the server refused our certificate, that is the cause, whatever became of the call.
func (c *Conn) failed(ctx context.Context, method string, err error) error {
	if why := c.refused.why(); err != nil && why != nil {
		err = status.Error(codes.Unavailable, why.Error())
	}
	return callError(ctx, method, c.address, err)
}

// refusable are the credentials of one connection whose refusal is kept.
type refusable struct {
	credentials.TransportCredentials
	config  *tls.Config
	refusal *refusal
}

// ClientHandshake implements credentials.TransportCredentials.
func (r refusable) ClientHandshake(ctx context.Context, authority string, raw net.Conn) (net.Conn, credentials.AuthInfo, error) {
	conn, info, err := r.TransportCredentials.ClientHandshake(ctx, authority, raw)
	if err != nil {
		return conn, info, err
	}
	a := &alerted{Conn: conn, refusal: r.refusal}
	if len(r.config.Certificates) > 0 {
		a.ours = r.config.Certificates[0].Leaf
	}
	return a, info, nil
}

// Clone implements credentials.TransportCredentials.
func (r refusable) Clone() credentials.TransportCredentials {
	return refusable{r.TransportCredentials.Clone(), r.config, r.refusal}
}

// alerted is a connection that reports the alert of a server that never reported anything else.
type alerted struct {
	net.Conn
	ours    *x509.Certificate
	refusal *refusal
	heard   atomic.Bool
}

// Read implements net.Conn.
func (a *alerted) Read(p []byte) (int, error) {
	n, err := a.Conn.Read(p)
	if n > 0 {
		a.heard.Store(true)
	}
	return n, a.explain(err)
}

// Write implements net.Conn. A write that fails reads the alert that came before.
func (a *alerted) Write(p []byte) (int, error) {
	n, err := a.Conn.Write(p)
	if err == nil || a.heard.Load() {
		return n, err
	}
	if deadline := a.SetReadDeadline(time.Now().Add(alertPatience)); deadline != nil {
		return n, err
	}
	if _, alert := a.Conn.Read(make([]byte, 1)); isAlert(alert) {
		err = alert
	}
	return n, a.explain(err)
}

func (a *alerted) explain(err error) error {
	if a.heard.Load() || !isAlert(err) {
		return err
	}
	return a.refusal.refused(err, a.ours)
}

func isAlert(err error) bool {
	var alert *net.OpError
	return errors.As(err, &alert) && alert.Op == alertOp
}
