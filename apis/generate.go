//go:build generate

package apis

// What is generated is deleted first, so that nothing stays of a kind that is gone.

//go:generate sh -c "rm -rf ../package/crds ../package/configuration/definitions ../docs/reference ../_output/composites"
//go:generate sh -c "rm -rf ../package/configuration-claims/definitions ../package/configuration-claims/compositions"
//go:generate sh -c "find . -name 'zz_*' -delete"

// Go types of the kinds that come from a Terraform provider. upjet calls goimports by name.
//go:generate sh -c "PATH=\"$(dirname \"$(go tool -modfile=../cluster/tools/generate/go.mod -n goimports)\"):$PATH\" go run ./internal/upjetgen --output=openbao/access --hack=../hack"

// Deep copies of all kinds.
//go:generate go tool -modfile=../cluster/tools/generate/go.mod controller-gen object:headerFile=../hack/boilerplate.go.txt paths=./...

// CustomResourceDefinitions of the provider's kinds.
//go:generate go tool -modfile=../cluster/tools/generate/go.mod controller-gen crd paths=./oncall/...;./openbao/...;./postgresql/...;./secrets/... output:crd:dir=../package/crds

// CompositeResourceDefinitions of the composites. Their own CustomResourceDefinitions come from Crossplane, ours are only a step on the way.
//go:generate go tool -modfile=../cluster/tools/generate/go.mod controller-gen crd paths=./v1alpha1 output:crd:dir=../_output/composites
//go:generate go run ./internal/xrdgen --crds=../_output/composites --output=../package/configuration

// The same kinds as claims, with composites of cluster scope behind them. The rest of that package follows from the other one.
//go:generate go run ./internal/xrdgen --crds=../_output/composites --output=../package/configuration-claims --claims --compositions=../package/configuration/compositions
//go:generate cp ../package/configuration/activation-policy.yaml ../package/configuration-claims/

// The API reference, of all definitions above.
//go:generate go run ./internal/refgen --output=../docs/reference ../package/crds ../package/configuration/definitions
