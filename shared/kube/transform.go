package kube

import (
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Keep makes a cache keep of each object of a kind what thin returns. What is of another type, as the mark of an object that was deleted
// unseen, stays as it is.
func Keep[T client.Object](thin func(T) T) toolscache.TransformFunc {
	return func(obj any) (any, error) {
		if whole, ok := obj.(T); ok {
			return thin(whole), nil
		}
		return obj, nil
	}
}
