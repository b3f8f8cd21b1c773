// Package gateway lets clients of Longhorn's REST API use the whole system: api-gateway and the controllers with their own identities, on a
// real API server, and the simulator behind them. The test sends the calls of the CSI plugin in its order, and waits as it does.
package gateway
