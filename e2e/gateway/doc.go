// Package gateway has a client that sends the calls of Longhorn's CSI plugin in its order, and waits as the plugin does. Its tests use the
// whole system with it: api-gateway and the controllers with their own identities, on a real API server, and the simulator behind them.
package gateway
