package orphancontroller_test

import (
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

func onceFunc(f func()) func() { return sync.OnceFunc(f) }

func mergeNode(node string) client.Patch {
	return client.RawPatch(types.MergePatchType, []byte(fmt.Sprintf(`{"spec":{"nodeID":%q}}`, node)))
}
