// Package worldtest makes objects of a World for tests of what the plugin concludes from it.
package worldtest

import (
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// Namespace is that of the Worlds.
const Namespace = "longhorn-system"

// Noon is when the Worlds were read.
var Noon = time.Date(2026, time.August, 1, 12, 0, 0, 0, time.UTC)

// Named is an object of that name.
func Named(name string) metav1.ObjectMeta { return metav1.ObjectMeta{Namespace: Namespace, Name: name} }

// Lease is a lease of 15 s, with its holder's identity, which was renewed so long before Noon.
func Lease(name, identity string, renewed time.Duration) coordinationv1.Lease {
	return coordinationv1.Lease{ObjectMeta: Named(name), Spec: coordinationv1.LeaseSpec{HolderIdentity: &identity,
		LeaseDurationSeconds: ptr.To[int32](15), RenewTime: &metav1.MicroTime{Time: Noon.Add(-renewed)}}}
}
