package runkit

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/go-logr/logr"
)

// serveProbes serves health and, where an address is given, profiles until ctx ends.
func serveProbes(ctx context.Context, o options, log logr.Logger) (*health, error) {
	found, err := serveHealth(ctx, o.healthAddress, log)
	if err != nil {
		return nil, err
	}
	return found, serve(ctx, "profile-address", o.profileAddress, profiles(), log)
}

// serve answers on an address until ctx ends; flag is where the address comes from, "0" is none.
func serve(ctx context.Context, flag, address string, handler http.Handler, log logr.Logger) error {
	if address == "0" {
		return nil
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return fmt.Errorf("listening (--%s): %w", flag, err)
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, IdleTimeout: time.Minute}
	context.AfterFunc(ctx, func() { _ = server.Close() }) // no answer is needed any more
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			log.Error(err, "answering requests", "flag", flag)
		}
	}()
	return nil
}

// profiles answers /debug/pprof/, as `go tool pprof` reads it. Nothing else of the process is served there.
func profiles() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	return mux
}

// loopback returns an error unless only this machine reaches the address: a profile shows names and data of objects.
func loopback(address string) error {
	if address == "0" {
		return nil
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return fmt.Errorf("--profile-address: %w; give it as 127.0.0.1:6060", err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return fmt.Errorf("--profile-address %s is reachable from other machines: give a loopback address, such as 127.0.0.1:6060, and reach "+
			"it by `kubectl port-forward`", address)
	}
	return nil
}
