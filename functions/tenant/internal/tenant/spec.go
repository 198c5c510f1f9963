package tenant

import (
	"errors"
	"fmt"
	"strings"

	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/utils/ptr"

	commonv1alpha1 "github.com/ryuvia/provider-terdut/apis/common/v1alpha1"
	"github.com/ryuvia/provider-terdut/apis/v1alpha1"
	"github.com/ryuvia/provider-terdut/functions/internal/composite"
	"github.com/ryuvia/provider-terdut/functions/internal/names"
)

// Defaults of a Tenant's spec. The API server sets them too; a rendered Tenant never passes one.
const (
	defaultConfig          = "default"
	defaultStoreKind       = "ClusterSecretStore"
	defaultStoreName       = "openbao"
	defaultSchema          = "public"
	defaultConnectionLimit = 50
)

// maxConnectionLimit is the most connections that PostgreSQL can be configured for, MAX_BACKENDS in its sources.
const maxConnectionLimit = 262143

// specOf a composite, with defaults. Fields of Crossplane's own are left out.
func specOf(xr *structpb.Struct) (v1alpha1.TenantSpec, error) {
	own := composite.OwnSpec(xr)
	if own == nil {
		return v1alpha1.TenantSpec{}, errors.New("spec: required, and must be an object")
	}
	obj := struct {
		Spec v1alpha1.TenantSpec `json:"spec"`
	}{}
	err := composite.DecodeStrict(&structpb.Struct{Fields: map[string]*structpb.Value{"spec": structpb.NewStructValue(own)}}, &obj)
	if err != nil {
		return v1alpha1.TenantSpec{}, err
	}

	spec := obj.Spec
	setDefaults(&spec)
	return spec, validate(spec)
}

func setDefaults(spec *v1alpha1.TenantSpec) {
	if spec.ConnectionLimit == nil {
		spec.ConnectionLimit = ptr.To[int32](defaultConnectionLimit)
	}
	def := func(s *string, value string) {
		if *s == "" {
			*s = value
		}
	}
	def(&spec.InstanceRef.Name, defaultConfig)
	def(&spec.BaoRef.Name, defaultConfig)
	def(&spec.SecretStoreRef.Kind, defaultStoreKind)
	def(&spec.SecretStoreRef.Name, defaultStoreName)
	for i := range spec.Extensions {
		def(&spec.Extensions[i].Schema, defaultSchema)
	}
	if spec.DeletionPolicy == "" {
		spec.DeletionPolicy = commonv1alpha1.DeletionRetain
	}
}

// validate what would otherwise end in a composed resource that the API server refuses, or worse, accepts.
func validate(spec v1alpha1.TenantSpec) error {
	if err := validateIdentifier("spec.database", spec.Database); err != nil {
		return err
	}
	if err := validateIdentifier("spec.owner", spec.Owner); err != nil {
		return err
	}
	if spec.Owner == nil && spec.Database != nil && reservedRole(*spec.Database) {
		return errors.New("spec.owner: required, because PostgreSQL keeps role names like this database's for itself")
	}
	if spec.SecretName != nil {
		if errs := validation.IsDNS1123Subdomain(*spec.SecretName); len(errs) > 0 {
			return fmt.Errorf("spec.secretName: %s", errs[0])
		}
	}
	if p := spec.DeletionPolicy; p != commonv1alpha1.DeletionRetain && p != commonv1alpha1.DeletionDelete {
		return errors.New("spec.deletionPolicy: must be Retain or Delete")
	}
	if k := spec.SecretStoreRef.Kind; k != "ClusterSecretStore" && k != "SecretStore" {
		return errors.New("spec.secretStoreRef.kind: must be ClusterSecretStore or SecretStore")
	}
	if a := spec.Access; a != nil {
		if (a.Kubernetes == nil) == (a.Shared == nil) {
			return errors.New("spec.access: set exactly one of kubernetes and shared")
		}
		if k := a.Kubernetes; k != nil && k.ServiceAccountName != nil {
			if errs := validation.IsDNS1123Subdomain(*k.ServiceAccountName); len(errs) > 0 {
				return fmt.Errorf("spec.access.kubernetes.serviceAccountName: %s", errs[0])
			}
		}
	}
	if l := *spec.ConnectionLimit; l < -1 || l > maxConnectionLimit {
		return fmt.Errorf("spec.connectionLimit: must be from -1 to %d", maxConnectionLimit)
	}
	seen := make(map[string]bool, len(spec.Extensions))
	for i, e := range spec.Extensions {
		if e.Name == "" {
			return fmt.Errorf("spec.extensions[%d].name: required", i)
		}
		if seen[e.Name] {
			return fmt.Errorf("spec.extensions[%d].name: must not repeat", i)
		}
		seen[e.Name] = true
	}
	return nil
}

func validateIdentifier(path string, name *string) error {
	switch {
	case name == nil:
		return nil
	case *name == "" || len(*name) > names.MaxIdentifier:
		return fmt.Errorf("%s: must be from 1 to %d bytes", path, names.MaxIdentifier)
	case strings.ContainsRune(*name, 0):
		return fmt.Errorf("%s: must not contain NUL", path)
	}
	return nil
}

// reservedRole tells whether PostgreSQL refuses a role of this name, see CREATE ROLE in its manual.
func reservedRole(name string) bool {
	return strings.HasPrefix(name, "pg_") || name == "public" || name == "none"
}
