package v1beta2

//go:generate go run sigs.k8s.io/controller-tools/cmd/controller-gen@v0.23.0 object paths=.
//go:generate go run sigs.k8s.io/controller-tools/cmd/controller-gen@v0.23.0 crd paths=. output:crd:dir=../../../crds
//go:generate go run ../../../crds/docgen -definitions=../../../crds -source=. -out=../../../docs/crds
