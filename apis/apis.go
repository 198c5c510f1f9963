// Package apis registers every kind of the product. Its Go types are the one source of CRDs, composite resource definitions and the API
// reference.
package apis

import (
	"k8s.io/apimachinery/pkg/runtime"

	oncallv1alpha1 "github.com/ryuvia/provider-terdut/apis/oncall/v1alpha1"
	accessv1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/access/v1alpha1"
	openbaov1alpha1 "github.com/ryuvia/provider-terdut/apis/openbao/v1alpha1"
	postgresqlv1alpha1 "github.com/ryuvia/provider-terdut/apis/postgresql/v1alpha1"
	secretsv1alpha1 "github.com/ryuvia/provider-terdut/apis/secrets/v1alpha1"
	terdutv1alpha1 "github.com/ryuvia/provider-terdut/apis/v1alpha1"
)

// AddToScheme adds every kind of the product to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	b := runtime.NewSchemeBuilder(
		oncallv1alpha1.AddToScheme,
		openbaov1alpha1.AddToScheme,
		accessv1alpha1.AddToScheme,
		postgresqlv1alpha1.AddToScheme,
		secretsv1alpha1.AddToScheme,
		terdutv1alpha1.AddToScheme,
	)
	return b.AddToScheme(s)
}
