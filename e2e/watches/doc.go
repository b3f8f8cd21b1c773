// Package watches counts the requests of the controllers to an API server that keeps no watch.
package watches
