// Package watches tells what the controllers ask of an API server that keeps no watch.
package watches
