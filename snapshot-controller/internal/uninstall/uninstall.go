// Package uninstall recognizes that Longhorn's objects are deleted all together, with their namespace or their definitions. Nobody asks for
// the data in backup targets to go then.
package uninstall

import (
	"context"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// definitions are those whose deletion deletes all objects that describe backups.
var definitions = []string{"backups.longhorn.io", "backupvolumes.longhorn.io", "backuptargets.longhorn.io"}

// Why explains why all objects are being deleted; empty: they are not.
func Why(ctx context.Context, uncached client.Reader, namespace string) (string, error) {
	ns := &metav1.PartialObjectMetadata{TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Namespace"}}
	if err := uncached.Get(ctx, client.ObjectKey{Name: namespace}, ns); err != nil {
		return "", fmt.Errorf("reading namespace %s: %w", namespace, err)
	}
	if ns.DeletionTimestamp != nil {
		return "Namespace " + namespace + " is being deleted", nil
	}
	for _, name := range definitions {
		list := &metav1.PartialObjectMetadataList{TypeMeta: metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1",
			Kind: "CustomResourceDefinitionList"}}
		if err := uncached.List(ctx, list, client.MatchingFields{"metadata.name": name}); err != nil {
			return "", fmt.Errorf("reading the definition %s: %w", name, err)
		}
		if len(list.Items) == 0 || list.Items[0].DeletionTimestamp != nil {
			return "The definition " + name + " is being deleted", nil
		}
	}
	return "", nil
}
