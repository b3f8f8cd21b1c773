package finding

import (
	"strings"

	"k8s.io/apimachinery/pkg/runtime"

	"drover.dev/drover/shared/api/v1beta2"
)

// plurals are the resources of Drover's definitions; a plural is its kind in lower case with an s.
var plurals = func() map[string]bool {
	scheme := runtime.NewScheme()
	_ = v1beta2.AddToScheme(scheme) // it always succeeds
	out := map[string]bool{}
	for kind := range scheme.KnownTypes(v1beta2.GroupVersion) {
		if _, isList := scheme.KnownTypes(v1beta2.GroupVersion)[kind+"List"]; isList {
			out[strings.ToLower(kind)+"s"] = true
		}
	}
	return out
}()
