package main

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httputil"
	"net/url"
	"time"
)

// serve serves the files of the interface and passes /v1 on to the gateway, as the proxy in the image of the interface does: with the
// address that the browser asked, in X-Forwarded-Host.
func serve(files, gateway string) (address string, stop func(), err error) {
	target, err := url.Parse(gateway)
	if err != nil {
		return "", nil, fmt.Errorf("parsing the address of the gateway: %w", err)
	}
	proxy := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.SetURL(target)
		r.SetXForwarded()
	}}
	mux := http.NewServeMux()
	mux.Handle("/v1/", proxy)
	mux.Handle("/", http.FileServer(http.Dir(files)))
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", nil, fmt.Errorf("listening for the browser: %w", err)
	}
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = server.Serve(listener) }() // it ends with the listener
	return "http://" + listener.Addr().String(), func() { _ = server.Close() }, nil
}
