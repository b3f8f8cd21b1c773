// Package wire knows the form of Longhorn's REST API: resources and collections with their links and actions, errors, schemas, and the
// address that links begin with. It knows neither custom resources nor the API server.
package wire
