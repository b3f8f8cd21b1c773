// Package serve puts servers of the data plane on the wire: the ports 8501 to 8504 of one loopback address per instance-manager pod, with
// mutual TLS where certificates are given, and with the faults that are in force. Four gRPC servers, one per port, serve all pods; which
// pod a call is for is reported by the connection's local address.
package serve
